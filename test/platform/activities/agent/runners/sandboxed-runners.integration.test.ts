import { join } from 'node:path';
import { createCommandRunner } from '../../../../../platform/activities/agent/runners/create-command-runner.ts';
import { createExampleRunner } from '../../../../../platform/activities/agent/runners/create-example-runner.ts';
import { agentRunnerContract, type Plan } from './agent-runner.contract.ts';
import {
  common,
  createRunnerFixture,
  environment,
  logger,
  processesNaming,
  type RunnerFixture,
  shellPrograms,
} from './runner-fixture.ts';

const shell = (options: Partial<Parameters<typeof createCommandRunner>[0]> = {}) =>
  createCommandRunner({ ...common, command: 'sh', model: 'shell', logger, ...options });

describe('the command runner in the sandbox', () => {
  agentRunnerContract(async () => ({
    model: 'shell',
    start: async (plan, marker) => ({ runner: shell(), prompt: shellPrograms(marker)[plan] }),
  }));

  let fixture: RunnerFixture;
  beforeAll(async () => {
    fixture = await createRunnerFixture();
  });
  afterAll(() => fixture?.remove());

  it('gives the command an empty HOME and TMPDIR, and only the allowed environment variables', async () => {
    const { output } = await fixture.run(
      shell(),
      'find "$HOME" "$TMPDIR" -mindepth 1; env | sed s/=.*// | sort | tr "\\n" " "; echo $TERM $LANG',
    );
    expect(output).toBe(`HOME LANG PATH PWD TERM TMPDIR dumb ${environment.LANG}\n`);
  });

  it('collects files and folders that the agent made unreadable', async () => {
    const { outcome } = await fixture.run(shell(), 'mkdir shut; echo x > shut/file; chmod 000 shut/file shut docs');
    const names = Object.keys(await fixture.filesOf(outcome));
    expect(names).toEqual(expect.arrayContaining(['shut/file', 'docs/guide.md']));
  });

  it('kills the agent at its time limit', async () => {
    const marker = `marker-${Math.random()}`;
    const limited = shell({ limits: { ...common.limits, timeoutMs: 1000 } });
    const { outcome } = await fixture.run(limited, shellPrograms(marker)['go on']);
    expect(outcome).toEqual({ kind: 'failed', error: 'The agent was ended: it ran longer than 1s, its time limit.' });
    expect(await processesNaming(marker)).toEqual([]);
  });
});

describe('the example runner in the sandbox', () => {
  const script = join(process.cwd(), 'examples/replace-agent.js');
  const prompts: Record<Plan, string | undefined> = {
    replace: "Replace 'Hello' with 'Bye' in README.md.",
    nothing: "Replace 'absent' with 'Bye' in README.md.",
    fail: "Replace 'Hello' with 'Bye' in MISSING.md.",
    'go on': undefined,
  };
  agentRunnerContract(async () => ({
    model: 'example',
    start: async (plan) => {
      const prompt = prompts[plan];
      return prompt === undefined ? undefined : { prompt, runner: createExampleRunner({ ...common, script, logger }) };
    },
  }));
});
