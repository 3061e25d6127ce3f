// Runs in a network namespace that a test has set up. Listens on its addresses, and probes them from outside the sandbox
// and as an agent inside. Takes the scenario as a JSON argument and prints the findings as JSON.
import { once } from 'node:events';
import { mkdtemp } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { execa } from 'execa';
import { pino } from 'pino';
import { createWordsRunner } from '../../../../../platform/activities/agent/runners/create-command-runner.ts';
import type { AgentNetwork } from '../../../../../platform/activities/agent/runners/runner-limits.ts';
import { type Found, PROBE, type Target } from './network-probe.ts';
import { common } from './runner-fixture.ts';

export type Scenario = {
  repositoryDir: string;
  commit: string;
  folder: string;
  listeners: readonly Target[];
  targets: readonly Target[];
  network: AgentNetwork;
};

export type Findings = {
  outside: Found;
  inside: Found;
  /** The listeners that the agent inside connected to, as `address port`. */
  visited: string[];
  logged: string;
};

const { repositoryDir, commit, folder, listeners, targets, network }: Scenario = JSON.parse(process.argv[2] ?? '');
const visited = new Set<string>();
for (const [host, port] of listeners) {
  const server = createServer((_, response) => response.end('reached'));
  server.on('connection', () => visited.add(`${host} ${port}`));
  await once(server.listen(port, host), 'listening');
}

const input = JSON.stringify(targets);
const { stdout } = await execa(process.execPath, ['-e', PROBE], { input });

const words = ['node', '-e', PROBE];
visited.clear();
let printed = '';
let logged = '';
const write = (line: string): void => {
  logged += line;
};
const logger = pino({ level: 'trace' }, { write });
const outcome = await createWordsRunner({ ...common, network, words, model: 'probe', logger }).run({
  ...{ jobId: 'aj_0000000000000000', run: 1, prompt: input, repositoryDir, commit },
  scratchDir: await mkdtemp(join(folder, 'scratch-')),
  signal: new AbortController().signal,
  log: (chunk) => {
    printed += Buffer.from(chunk).toString();
  },
});
if (outcome.kind !== 'unchanged') throw new Error(`The probe failed: ${JSON.stringify(outcome)} ${printed}`);
const findings: Findings = { outside: JSON.parse(stdout), inside: JSON.parse(printed), visited: [...visited], logged };
console.log(JSON.stringify(findings));
process.exit();
