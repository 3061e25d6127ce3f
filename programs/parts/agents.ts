import type { Logger } from 'pino';
import type { AgentDeps } from '../../platform/activities/agent/agent-deps.ts';
import { readSandbox, SandboxMissingError } from '../../platform/activities/agent/runners/sandbox/read-sandbox.ts';
import { createEmbeddedForge } from '../../platform/forge/embedded-forge.ts';
import type { Home } from '../process/home.ts';
import type { Settings } from '../settings/environment.ts';
import { FOR_GIT } from '../settings/git-environment.ts';
import { pick } from '../settings/pick.ts';
import type { Temporal } from '../temporal/temporal.ts';
import { agentRunnerOf } from './agent-runner.ts';
import { checkAgentCommand } from './check-agent-command.ts';
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
    secrets: secretsOf(settings),
    gitEnvironment: pick(variables, FOR_GIT),
  };
}

/** As `host:port`; empty for the embedded database, which only listens on loopback. */
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
 * the sandbox hides, no bubblewrap, a machine that forbids what it needs. Also if no agent is configured and the
 * example agent runs.
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
  if (problem !== undefined) logger.warn(`${problem} Until then every agent job fails.`);
  if (!agent.sandbox || agent.command === undefined) return;
  try {
    await probe(variables.PATH ?? '');
  } catch (error) {
    if (!(error instanceof SandboxMissingError)) throw error;
    logger.warn(`${error.message} Until then every agent job fails.`);
  }
}
