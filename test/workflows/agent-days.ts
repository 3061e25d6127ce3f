import type { TestWorkflowEnvironment } from '@temporalio/testing';
import type { RuleSettings } from '../../activities/agents/read-rule-settings.ts';
import { startTimeSkipping } from '../helpers/temporal.ts';
import { type AgentBench, startAgentBench } from './agent-bench.ts';
import { type AgentWorker, createAgentWorker } from './agent-worker.ts';

export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

export type AgentDays = {
  env: () => TestWorkflowEnvironment;
  bench: (settings?: Partial<RuleSettings>) => Promise<AgentBench>;
};

/** One time-skipping server and one worker for a test file, and a bench for each test, all of it gone afterwards. */
export function useSkippedTime(): AgentDays {
  let started: TestWorkflowEnvironment | undefined;
  let worker: AgentWorker | undefined;
  const benches: AgentBench[] = [];
  const env = (): TestWorkflowEnvironment => {
    if (started === undefined) throw new Error('the server is started by beforeAll');
    return started;
  };

  beforeAll(async () => {
    started = await startTimeSkipping();
  });
  afterEach(async () => {
    // A workflow that is terminated in the middle of a call would stop the server from skipping time in the next test.
    await env().sleep(10_000);
    await Promise.all(benches.splice(0).map((each) => each.close()));
  });
  afterAll(async () => {
    await worker?.stop();
    await started?.teardown();
  });

  return {
    env,
    async bench(settings = {}) {
      const { client, nativeConnection } = env();
      worker ??= createAgentWorker(nativeConnection, client.options.namespace);
      const made = await startAgentBench({
        client,
        connection: nativeConnection,
        clock: () => env().currentTimeMs(),
        settings,
        worker,
      });
      benches.push(made);
      return made;
    },
  };
}
