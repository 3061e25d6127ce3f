import { isIP } from 'node:net';
import { basename, isAbsolute } from 'node:path';
import { z } from 'zod';
import { positiveDurationMs } from '../../contract/duration.ts';
import { hostAndPort, isPublicAddress, withoutBrackets } from '../../exporter/fetch/address-guard.ts';
import { byteSize } from './byte-size.ts';

const MINUTE_MS = 60_000;
const MIB = 1024 ** 2;

/** Node's timers fire immediately for delays over 24 days. */
const LONGEST_RUN_MS = 7 * 24 * 60 * MINUTE_MS;

const onOrOff = z.enum(['on', 'off'], { error: 'expected on or off' });

/** Set by the runner for each run. */
const OWN = new Set(['HOME', 'TMPDIR', 'PWD']);

const variableNames = z
  .string()
  .transform((text) => text.split(',').map((name) => name.trim()))
  .superRefine((names, context) => {
    for (const name of names) {
      const message = wrongName(name);
      if (message !== undefined) context.addIssue({ code: 'custom', message });
    }
  });

function wrongName(name: string): string | undefined {
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) return 'expected names of variables, separated by commas';
  if (OWN.has(name)) return `${name} is set for each run`;
  return undefined;
}

const absolutePaths = z
  .string()
  .transform((text) => text.split(',').map((path) => path.trim()))
  .refine((paths) => paths.every(isAbsolute), 'expected absolute paths, separated by commas');

const EXPECTED_HOSTS = 'expected host:port, separated by commas, such as api.example.com:443';

/** Hosts as `host:port`, separated by commas, normalized as `URL` does. Private ones are rejected. */
const allowedHosts = z.string().transform((text, context) =>
  text.split(',').map((item) => {
    const url = urlOf(item.trim());
    const message = url === undefined ? EXPECTED_HOSTS : privateHost(url);
    if (message !== undefined) context.addIssue({ code: 'custom', message });
    return url === undefined ? '' : hostAndPort(url);
  }),
);

function urlOf(host: string): URL | undefined {
  if (!/^([\p{L}\d._-]+|\[[\da-f:.]+\]):[1-9]\d{0,4}$/iu.test(host)) return undefined;
  // `URL` omits the scheme's default port.
  return URL.canParse(`http://${host}`) ? new URL(`http://${host}`) : undefined;
}

function privateHost(url: URL): string | undefined {
  const literal = withoutBrackets(url.hostname);
  const isPrivate = isIP(literal) === 0 ? /(^|\.)localhost$/.test(literal) : !isPublicAddress(literal);
  return isPrivate ? `${hostAndPort(url)} is not a public address, and agents reach no other` : undefined;
}

/** The variables AGENT_…, one by one; `readAgentSettings` checks their combination. */
export const agentVariables = {
  AGENT_COMMAND: z.string().regex(/\S/, 'expected a command line').optional(),
  AGENT_MODEL: z.string().optional(),
  AGENT_TIMEOUT: positiveDurationMs
    .refine((ms) => ms <= LONGEST_RUN_MS, 'expected a duration of at most 7d')
    .default(30 * MINUTE_MS),
  AGENT_SANDBOX: onOrOff.default('on'),
  AGENT_NETWORK_ALLOW: allowedHosts.default([]),
  AGENT_ENV: variableNames.default([]),
  AGENT_READ: absolutePaths.default([]),
  AGENT_SCRATCH_SIZE: byteSize.default(2 * 1024 * MIB),
  AGENT_MAX_OUTPUT: byteSize.default(10 * MIB),
  AGENT_COMMIT_SIGNING_KEY: z.string().trim().min(1, 'expected a file with an SSH key').optional(),
  AGENT_COMMIT_EMAIL: z.email('expected a mail address').optional(),
};

type AgentVariables = z.infer<z.ZodObject<typeof agentVariables>>;

/**
 * The settings, or one sentence for each variable that conflicts with others. With the variables that are `withheld`, an
 * agent could change more than a checkout.
 */
export function readAgentSettings(env: AgentVariables, withheld: (name: string) => boolean) {
  const settings = {
    /** The coding agent's command line. Undefined: the example agent, which handles one kind of sentence. */
    command: env.AGENT_COMMAND,
    /** The `model` of jobs. */
    model: env.AGENT_MODEL ?? (env.AGENT_COMMAND === undefined ? 'example' : programOf(env.AGENT_COMMAND)),
    timeoutMs: env.AGENT_TIMEOUT,
    sandbox: env.AGENT_SANDBOX === 'on',
    /** What the agent may reach, as `host:port`; empty: no network. */
    allowedHosts: env.AGENT_NETWORK_ALLOW,
    /** Variables that are passed to the agent. */
    environmentNames: env.AGENT_ENV,
    /** What the agent may read besides its checkout and the system's programs. */
    readablePaths: env.AGENT_READ,
    scratchSizeBytes: env.AGENT_SCRATCH_SIZE,
    outputLimitBytes: env.AGENT_MAX_OUTPUT,
    /** The file of the SSH key that signs commits. */
    signingKeyFile: env.AGENT_COMMIT_SIGNING_KEY,
    /** The address in commits. Forges accept a signature only from the account with the committer's address. */
    commitEmail: env.AGENT_COMMIT_EMAIL,
  };
  return { settings, problems: problemsOf(env, withheld) };
}

/** The name of a command line's program. */
function programOf(commandLine: string): string {
  return basename(commandLine.trim().split(/\s/u)[0] ?? '');
}

function problemsOf(env: AgentVariables, withheld: (name: string) => boolean): string[] {
  const problems = env.AGENT_ENV.filter(withheld).map(
    (name) => `AGENT_ENV: ${name} is Galley's own, which no agent gets`,
  );
  if (env.AGENT_SANDBOX === 'off' && env.AGENT_NETWORK_ALLOW.length > 0)
    problems.push('AGENT_NETWORK_ALLOW: expected AGENT_SANDBOX=on; only the sandbox can hold an agent to it');
  return problems;
}
