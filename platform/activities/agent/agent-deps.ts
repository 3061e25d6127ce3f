import type { Logger } from 'pino';
import type { ForgeWriter } from '../../../forge/forge.ts';
import type { Identity } from '../../../forge/git/write-commit.ts';
import type { ObjectStore } from '../../objects/object-store.ts';
import type { Database } from '../../store/database.ts';
import type { AgentRunner } from './agent-runner.ts';

/** The operator's settings for agents. A worker without them rejects agent jobs with a clear error. */
export type AgentDeps = {
  runner: AgentRunner;
  /** The forge of a repository's pull requests. Throws `ForgeError` if none is configured for it. */
  forgeFor(repository: string): ForgeWriter;
  /** A local folder for fetched repositories and the runner's files. Created if missing. */
  workDir: string;
  /** The runner's time limit in milliseconds; the steps around it have more. Default 30 minutes. */
  runTimeoutMs?: number;
  /** The author of the commits. */
  author?: Identity;
  /** The file of the SSH key that signs the commits. Default null: they aren't signed. */
  signingKey?: string | null;
  /** Values that must never appear in a log or an error: the agent's environment and the forge's credentials. */
  secrets?: readonly string[];
  /** The only variables that git inherits: a path, proxies, an SSH agent. */
  gitEnvironment?: Readonly<Record<string, string>>;
  /** Concurrent agents on this worker. Default 2: each may take a processor and gigabytes. */
  runsAtOnce?: number;
  /** The largest pack of changed files, in bytes. Default 256 MiB. */
  maxPackBytes?: number;
  /** The largest log kept of a run, in bytes. Default 12 MiB. */
  maxLogBytes?: number;
};

/** What the agent activities of a process share. */
export type AgentContext = Required<Omit<AgentDeps, 'gitEnvironment'>> & {
  gitEnvironment: Readonly<Record<string, string>> | undefined;
  db: Database;
  objects: ObjectStore;
  logger: Logger;
  /** Whether the Temporal server knows Galley's search attributes. */
  searchAttributes: boolean;
};

const MIB = 1024 * 1024;

export const DEFAULT_AGENT_SETTINGS = {
  runTimeoutMs: 30 * 60_000,
  author: { name: 'Galley agent', email: 'agent@galley.invalid' },
  signingKey: null,
  secrets: [],
  runsAtOnce: 2,
  maxPackBytes: 256 * MIB,
  maxLogBytes: 12 * MIB,
} as const;
