import type { Logger } from 'pino';
import type { AgentDeps } from '../../platform/activities/agent/agent-deps.ts';
import { readSandbox, SandboxMissingError } from '../../platform/activities/agent/runners/sandbox/read-sandbox.ts';
import { createEmbeddedForge } from '../../platform/forge/embedded-forge.ts';
import type { Settings } from '../environment.ts';
import type { Home } from '../home.ts';
import { agentRunnerOf, pick } from './agent-runner.ts';
import { commandTrouble } from './command-trouble.ts';
import { forgesOf } from './forges.ts';
import type { PlatformStore } from './platform-store.ts';

interface Surroundings {
  settings: Settings;
  store: PlatformStore;
  home: Home;
  /** What the embedded forge's pages are named by. */
  publicUrl: string;
  logger: Logger;
}

/** What git gets of the worker's variables: where programs are, the way out, and keys for SSH. */
const FOR_GIT = [
  'PATH',
  ...['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'NO_PROXY'].flatMap((name) => [name, name.toLowerCase()]),
  ...['SSL_CERT_FILE', 'SSL_CERT_DIR', 'GIT_SSL_CAINFO', 'SSH_AUTH_SOCK', 'GIT_SSH_COMMAND'],
];

/** Variables of Galley's own that an agent must never repeat in its output. */
const OWN_SECRETS = [
  ...['OPERATOR_TOKEN', 'ADMIN_API_KEY', 'GALLEY_ENCRYPTION_KEY', 'AGENT_MODEL_KEY', 'FORGE_TOKEN'],
  ...['FORGE_APP_PRIVATE_KEY', 'DATABASE_URL', 'AWS_SECRET_ACCESS_KEY', 'AWS_SESSION_TOKEN', 'TEMPORAL_API_KEY'],
];

/** Shorter values are no secrets, and masking them (`1`, `true`) would make logs unreadable. */
const SECRET_CHARACTERS = 8;

/**
 * All that the worker needs for agent jobs, as the variables say.
 * @throws ConfigurationError where AGENT_COMMAND is no command line, or the forge's access can't be used.
 */
export function agentDepsOf({ settings, store, home, publicUrl, logger }: Surroundings): AgentDeps {
  const { agent, forge, variables } = settings;
  const embedded = createEmbeddedForge({ db: store.db, publicUrl: () => publicUrl, logger });
  return {
    runner: agentRunnerOf(settings, logger),
    forgeFor: forgesOf({ hosted: forge, embedded, logger }),
    workDir: home.path('agent-work'),
    runTimeoutMs: agent.timeoutMs,
    secrets: Object.values(pick(variables, [...OWN_SECRETS, ...agent.environmentNames])).filter(
      (value) => value.length >= SECRET_CHARACTERS,
    ),
    gitEnvironment: pick(variables, FOR_GIT),
  };
}

/**
 * Says at the start what would fail every job: a variable of AGENT_ENV that isn't set, a command that isn't there or
 * that the sandbox hides, no bubblewrap, a machine that forbids what it needs. Only where an agent was configured:
 * without one nobody waits for its jobs.
 */
export async function warnOfAgentTrouble(
  settings: Pick<Settings, 'agent' | 'variables'>,
  logger: Logger,
  probe: (path: string) => Promise<unknown> = readSandbox,
): Promise<void> {
  const { agent, variables } = settings;
  const unset = agent.environmentNames.filter((name) => variables[name] === undefined);
  if (unset.length > 0) logger.warn({ variables: unset }, 'AGENT_ENV names variables that are not set');
  const trouble = await commandTrouble(settings);
  if (trouble !== undefined) logger.warn(`${trouble} Until then every agent job fails.`);
  if (!agent.sandbox || agent.work.kind === 'example') return;
  try {
    await probe(variables.PATH ?? '');
  } catch (error) {
    if (!(error instanceof SandboxMissingError)) throw error;
    logger.warn(`${error.message} Until then every agent job fails.`);
  }
}
