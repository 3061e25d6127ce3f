import type { Logger } from 'pino';
import type { ForgeWriter } from '../../../forge/forge.ts';
import type { Identity } from '../../git/write-commit.ts';
import type { ObjectStore } from '../../objects/object-store.ts';
import type { Database } from '../../store/database.ts';
import type { AgentRunner } from './agent-runner.ts';

/** What an operator decides about agents. A worker without it refuses agent jobs with a clear error. */
export type AgentDeps = {
  runner: AgentRunner;
  /** The forge that a repository's pull requests live on. Throws `ForgeError` where none is configured for it. */
  forgeFor(repository: string): ForgeWriter;
  /** A folder of this machine for fetched repositories and the runner's files. Made where it is missing. */
  workDir: string;
  /** The runner's own time limit, in milliseconds; steps around it have more. Default 30 minutes. */
  runTimeoutMs?: number;
  /** Who the commits are by. */
  author?: Identity;
  /** Values that never appear in a log or an error: what the agent's environment and the forge's access hold. */
  secrets?: readonly string[];
  /** What git inherits: a path, proxies, an SSH agent. Nothing else of the environment reaches it. */
  gitEnvironment?: Readonly<Record<string, string>>;
  /** Agents at a time on this worker. Default 2: each may take a processor and gigabytes. */
  runsAtOnce?: number;
  /** The largest pack of changed files, in bytes. Default 256 MiB. */
  maxPackBytes?: number;
  /** The largest log kept of a run, in bytes. Default 12 MiB. */
  maxLogBytes?: number;
};

/** What the agent activities share within a process. */
export type AgentContext = Required<Omit<AgentDeps, 'gitEnvironment'>> & {
  gitEnvironment: Readonly<Record<string, string>> | undefined;
  db: Database;
  objects: ObjectStore;
  logger: Logger;
  /** Whether the server knows our search attributes. */
  searchAttributes: boolean;
};

const MIB = 1024 * 1024;

export const DEFAULT_AGENT_SETTINGS = {
  runTimeoutMs: 30 * 60_000,
  author: { name: 'Galley agent', email: 'agent@galley.invalid' },
  secrets: [],
  runsAtOnce: 2,
  maxPackBytes: 256 * MIB,
  maxLogBytes: 12 * MIB,
} as const;
