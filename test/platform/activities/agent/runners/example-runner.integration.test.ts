import { join } from 'node:path';
import { createExampleRunner } from '../../../../../platform/activities/agent/runners/create-example-runner.ts';
import { agentRunnerContract, type Plan } from './agent-runner.contract.ts';
import { common, logger } from './runner-rig.ts';

const script = join(process.cwd(), 'examples/replace-agent.js');
const PROMPTS: Record<Plan, string | undefined> = {
  replace: "Replace 'Hello' with 'Bye' in README.md.",
  nothing: 'Rewrite everything, please.',
  fail: "Replace 'Hello' with 'Bye' in MISSING.md.",
  'go on': undefined,
};

describe.each(['on', 'off'] as const)('the example runner with the sandbox %s', (sandbox) => {
  agentRunnerContract(async () => ({
    model: 'example',
    start: async (plan) => {
      const prompt = PROMPTS[plan];
      return prompt === undefined
        ? undefined
        : { prompt, runner: createExampleRunner({ ...common, sandbox, script, logger }) };
    },
  }));
});
