import { execFile } from 'node:child_process';
import { access } from 'node:fs/promises';
import { isAbsolute, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import type { Logger } from 'pino';
import { ConfigurationError } from '../../contract/configuration-error.ts';
import { NO_PASSPHRASE } from '../../forge/git/write-commit.ts';
import { type AgentDeps, DEFAULT_AGENT_SETTINGS } from '../../platform/activities/agent/agent-deps.ts';
import type { AgentRunner } from '../../platform/activities/agent/agent-runner.ts';
import { splitCommandLine } from '../../platform/activities/agent/runners/command-line.ts';
import { createCommandRunner } from '../../platform/activities/agent/runners/create-command-runner.ts';
import { createExampleRunner } from '../../platform/activities/agent/runners/create-example-runner.ts';
import { reachProgram } from '../../platform/activities/agent/runners/reach-program.ts';
import { DEFAULT_RUNNER_LIMITS } from '../../platform/activities/agent/runners/runner-limits.ts';
import { isOfSystem } from '../../platform/activities/agent/runners/sandbox/mounts.ts';
import { readSandbox, SandboxMissingError } from '../../platform/activities/agent/runners/sandbox/read-sandbox.ts';
import { createEmbeddedForge } from '../../platform/forge/embedded-forge.ts';
import type { Home } from '../process/home.ts';
import { packageRoot } from '../process/package.ts';
import { FOR_GIT, pick } from '../settings/child-environment.ts';
import type { Settings } from '../settings/environment.ts';
import type { Temporal } from '../temporal/temporal.ts';
import { forgesOf } from './forges.ts';
import type { PlatformStore } from './platform-store.ts';

interface Context {
  settings: Settings;
  store: PlatformStore;
  home: Home;
  /** The base URL of the embedded forge's pages. */
  publicUrl: string;
  temporal: Pick<Temporal, 'address'>;
  logger: Logger;
}

/** Galley's own secrets, which an agent must never print. */
const OWN_SECRETS = [
  ...['OPERATOR_TOKEN', 'ADMIN_API_KEY', 'GALLEY_ENCRYPTION_KEY', 'UNSUBSCRIBE_SECRET', 'HEARTBEAT_URL', 'FORGE_TOKEN'],
  ...['FORGE_APP_PRIVATE_KEY', 'DATABASE_URL', 'AWS_SECRET_ACCESS_KEY', 'AWS_SESSION_TOKEN', 'TEMPORAL_API_KEY'],
];

/** PostgreSQL's default port. */
const POSTGRES_PORT = 5432;

/** Shorter values aren't secrets, and masking them (`1`, `true`) would make logs unreadable. */
const SECRET_CHARACTERS = 8;

/**
 * The worker's settings for agent jobs.
 * @throws ConfigurationError if AGENT_COMMAND isn't a valid command line, or the forge's credentials are unusable.
 */
export function agentDepsOf({ settings, store, home, publicUrl, temporal, logger }: Context): AgentDeps {
  const { agent, forge, variables } = settings;
  const embedded = createEmbeddedForge({ db: store.db, publicUrl: () => publicUrl, logger });
  return {
    runner: agentRunnerOf(settings, logger, [temporal.address, ...databaseServer(settings)]),
    forgeFor: forgesOf({ hosted: forge, embedded, logger }),
    workDir: home.path('agent-work'),
    runTimeoutMs: agent.timeoutMs,
    signingKey: agent.signingKeyFile === undefined ? null : resolve(agent.signingKeyFile),
    ...(agent.commitEmail === undefined
      ? {}
      : { author: { ...DEFAULT_AGENT_SETTINGS.author, email: agent.commitEmail } }),
    secrets: secretsOf(settings),
    gitEnvironment: pick(variables, FOR_GIT),
  };
}

/** The database as `host:port`; empty for the embedded one, which only listens on loopback. */
function databaseServer({ databaseUrl }: Pick<Settings, 'databaseUrl'>): string[] {
  if (databaseUrl === undefined) return [];
  const { hostname, port } = new URL(databaseUrl);
  return hostname === '' ? [] : [`${hostname}:${port || POSTGRES_PORT}`];
}

/** Each of several encryption keys is a secret too. */
function secretsOf({ agent, variables }: Settings): string[] {
  const values = Object.values(pick(variables, [...OWN_SECRETS, ...agent.environmentNames]));
  const keys = variables.GALLEY_ENCRYPTION_KEY?.split(',').map((key) => key.trim()) ?? [];
  return [...values, ...keys].filter((value) => value.length >= SECRET_CHARACTERS);
}

/**
 * Warns at start about what would fail every job: a missing variable of AGENT_ENV, a command that isn't there or that
 * the sandbox hides, a key that can't sign, no bubblewrap, a machine that forbids what it needs. Also if no agent is
 * configured and the example agent runs.
 */
export async function warnAboutAgentCommand(
  settings: Pick<Settings, 'agent' | 'variables'>,
  logger: Logger,
  probe: (path: string) => Promise<unknown> = readSandbox,
): Promise<void> {
  const { agent, variables } = settings;
  if (agent.command === undefined) {
    logger.info(
      "AGENT_COMMAND is not set: the example agent works, which only understands Replace 'A' with 'B' in FILE",
    );
  }
  const unset = agent.environmentNames.filter((name) => variables[name] === undefined);
  if (unset.length > 0) logger.warn({ variables: unset }, 'AGENT_ENV names variables that are not set');
  if (agent.sandbox && agent.command !== undefined && agent.allowedHosts.length === 0)
    logger.info('AGENT_NETWORK_ALLOW is empty: the agent has no network');
  const problem = await checkAgentCommand(settings);
  for (const each of [problem, await checkSigningKey(settings)])
    if (each !== undefined) logger.warn(`${each} Until then every agent job fails.`);
  if (!agent.sandbox || agent.command === undefined) return;
  try {
    await probe(variables.PATH ?? '');
  } catch (error) {
    if (!(error instanceof SandboxMissingError)) throw error;
    logger.warn(`${error.message} Until then every agent job fails.`);
  }
}

/**
 * Proves the sandbox before a process that only runs agents becomes ready: without one it would fail every job, or hold the
 * example agent to nothing where AGENT_SANDBOX=on is set.
 * @throws ConfigurationError if the sandbox doesn't work on this machine.
 */
export async function requireSandbox(
  { agent, variables }: Pick<Settings, 'agent' | 'variables'>,
  probe: (path: string) => Promise<unknown> = readSandbox,
): Promise<void> {
  if (!agent.sandbox || (agent.command === undefined && variables.AGENT_SANDBOX === undefined)) return;
  try {
    await probe(variables.PATH ?? '');
  } catch (error) {
    throw error instanceof SandboxMissingError ? new ConfigurationError([`AGENT_SANDBOX: ${error.message}`]) : error;
  }
}

/** The worker's variables that the agent's processes get besides those in AGENT_ENV. */
const HANDED_ON = ['PATH', 'LANG', 'TZ'];

/**
 * Creates the agent runner that the variables AGENT_… configure. `ownServers` are `host:port`s that no agent may reach.
 * @throws ConfigurationError if AGENT_COMMAND isn't a valid command line.
 */
export function agentRunnerOf(
  settings: Pick<Settings, 'agent' | 'variables'>,
  logger: Logger,
  ownServers: readonly string[] = [],
): AgentRunner {
  const { agent } = settings;
  const common = {
    sandbox: agent.sandbox ? ('on' as const) : ('off' as const),
    network: { allow: agent.allowedHosts, refuse: ownServers },
    environment: agentEnvironment(settings),
    readOnlyPaths: agent.readablePaths,
    limits: {
      ...DEFAULT_RUNNER_LIMITS,
      timeoutMs: agent.timeoutMs,
      scratchSizeBytes: agent.scratchSizeBytes,
      outputLimitBytes: agent.outputLimitBytes,
    },
    logger,
  };
  const { command, model } = agent;
  return command === undefined
    ? createExampleRunner({ ...common, model, script: join(packageRoot(), 'examples', 'replace-agent.js') })
    : createCommandRunner({ ...common, model, command });
}

/** Why the key of AGENT_COMMIT_SIGNING_KEY can't sign, in one sentence; undefined if it can, or if there is none. */
async function checkSigningKey({ agent, variables }: Pick<Settings, 'agent' | 'variables'>) {
  const { signingKeyFile: file } = agent;
  if (file === undefined) return undefined;
  const env = { ...pick(variables, FOR_GIT), ...NO_PASSPHRASE };
  const signing = promisify(execFile)('ssh-keygen', ['-Y', 'sign', '-n', 'git', '-f', file], { env, timeout: 10_000 });
  signing.child.stdin?.on('error', () => {}).end();
  return signing.then(
    () => undefined,
    () =>
      `AGENT_COMMIT_SIGNING_KEY: ${file} can't sign: expected an SSH key without a passphrase, which only its user can read, and ssh-keygen.`,
  );
}

export function agentEnvironment({ agent, variables }: Pick<Settings, 'agent' | 'variables'>): Record<string, string> {
  return pick(variables, [...HANDED_ON, ...agent.environmentNames]);
}

/** Folders that the sandbox creates: paths below them needn't be files of this machine. */
const MADE_INSIDE = ['/dev', '/proc', '/etc', '/scratch'];

/**
 * Why AGENT_COMMAND can't start in a job, in one sentence: a missing program, or named files that the sandbox hides.
 * Undefined if there is no known reason.
 * @throws ConfigurationError if it isn't a valid command line.
 */
export async function checkAgentCommand(settings: Pick<Settings, 'agent' | 'variables'>): Promise<string | undefined> {
  const { command, sandbox, readablePaths } = settings.agent;
  if (command === undefined) return undefined;
  const [program = '', ...words] = splitCommandLine(command);
  const environment = agentEnvironment(settings);
  const reach = await reachProgram(program, { environment, readOnlyPaths: readablePaths });
  if (reach === undefined) return `AGENT_COMMAND: there is no program ${program} on this machine's PATH.`;
  if (!sandbox) return undefined;
  const isHidden = (word: string): boolean =>
    isAbsolute(word) && !isOfSystem(word) && ![...MADE_INSIDE, ...reach.readOnlyPaths].some((path) => isIn(word, path));
  const hidden = await Promise.all(words.filter(isHidden).map(async (word) => ((await exists(word)) ? [word] : [])));
  const names = hidden.flat().join(', ');
  return names === ''
    ? undefined
    : `AGENT_COMMAND: agents can't read ${names} in their sandbox: name it in AGENT_READ.`;
}

function isIn(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith('/') ? folder : `${folder}/`);
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
