import type { Client } from '@temporalio/client';
import type { RuleSettings } from '../../activities/agents/read-rule-settings.ts';
import { type RecordedRun, replayErrors } from '../helpers/replay.ts';
import { connectTemporal, type TestTemporal } from '../helpers/temporal.ts';
import { workflowBundles } from '../helpers/workflow-bundles.ts';
import { type AgentBench, startAgentBench } from './agent-bench.ts';
import { type AgentWorker, createAgentWorker } from './agent-worker.ts';

export type AgentBenches = {
  server: () => TestTemporal;
  bench: (settings?: Partial<RuleSettings>) => Promise<AgentBench>;
};

/** One real dev server and one worker for a test file, and a bench for each test, all of it gone afterwards. Whatever a test made happen has to replay. */
export function useAgentBenches(): AgentBenches {
  let running: TestTemporal | undefined;
  let worker: AgentWorker | undefined;
  const benches: AgentBench[] = [];
  const played: RecordedRun[] = [];
  const server = (): TestTemporal => {
    if (running === undefined) throw new Error('the dev server is started by beforeAll');
    return running;
  };

  beforeAll(async () => {
    running = await connectTemporal();
  });
  afterEach(async () => {
    const ended = benches.splice(0);
    try {
      for (const each of ended)
        for (const id of each.workflowIds()) played.push(...(await runsOf(server().client, id)));
    } finally {
      await Promise.all(ended.map((each) => each.close()));
    }
  });
  afterAll(async () => {
    await worker?.stop();
    await running?.stop();
    const errors = await replayErrors(workflowBundles.orchestrator, played);
    expect(errors.filter((error) => error !== undefined)).toEqual([]);
  });

  return {
    server,
    async bench(settings = {}) {
      const { client, nativeConnection } = server();
      worker ??= createAgentWorker(nativeConnection, client.options.namespace);
      const made = await startAgentBench({ client, connection: nativeConnection, settings, worker });
      benches.push(made);
      return made;
    },
  };
}

/** The histories of a workflow's runs, newest run first; none where it never ran. */
export async function runsOf(
  client: Client,
  workflowId: string,
): Promise<(RecordedRun & { runId: string; length: number })[]> {
  const runs: (RecordedRun & { runId: string; length: number })[] = [];
  for (let runId = await newestRun(client, workflowId); runId; ) {
    const history = await client.workflow.getHandle(workflowId, runId).fetchHistory();
    const { events } = history;
    runs.push({ workflowId, runId, history, length: events?.length ?? 0 });
    runId = events?.[0]?.workflowExecutionStartedEventAttributes?.continuedExecutionRunId ?? undefined;
  }
  return runs;
}

async function newestRun(client: Client, workflowId: string): Promise<string | undefined> {
  return await client.workflow
    .getHandle(workflowId)
    .describe()
    .then(
      (description) => description.runId,
      () => undefined,
    );
}
