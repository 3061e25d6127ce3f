import type { WorkflowHandle } from '@temporalio/client';
import { type RecordedRun, replayErrors } from '../helpers/replay.ts';
import { startDevServer, type TestDevServer } from '../helpers/temporal.ts';
import { workflowBundles } from '../helpers/workflow-bundles.ts';
import { type SiteBench, type SiteBenchOptions, startSiteBench } from './site-bench.ts';

export type Benches = {
  server: () => TestDevServer;
  bench: (options?: Partial<SiteBenchOptions>) => Promise<SiteBench>;
};

/** One real dev server for a test file and a bench for each test, all of it gone afterwards. Whatever a test made happen has to replay. */
export function useDevServer(): Benches {
  let server: TestDevServer | undefined;
  const benches: SiteBench[] = [];
  const played: RecordedRun[] = [];
  const running = (): TestDevServer => {
    if (!server) throw new Error('the dev server is started by beforeAll');
    return server;
  };

  beforeAll(async () => {
    server = await startDevServer();
  });
  afterEach(async () => {
    const ended = benches.splice(0);
    try {
      for (const { handle } of ended) played.push(...(await runsOf(handle)));
    } finally {
      await Promise.all(ended.map((each) => each.close()));
    }
  });
  afterAll(async () => {
    await server?.stop();
    const errors = await replayErrors(workflowBundles.orchestrator, played);
    expect(errors.filter((error) => error !== undefined)).toEqual([]);
  });

  return {
    server: running,
    async bench(options = {}) {
      const { client, nativeConnection } = running();
      const made = await startSiteBench({ client, connection: nativeConnection, ...options });
      benches.push(made);
      return made;
    },
  };
}

async function runsOf(handle: WorkflowHandle): Promise<RecordedRun[]> {
  const runs: RecordedRun[] = [];
  let runId: string | null | undefined = await handle.describe().then(
    (description) => description.runId,
    () => undefined,
  );
  while (runId) {
    const history = await handle.client.getHandle(handle.workflowId, runId).fetchHistory();
    runs.push({ workflowId: handle.workflowId, history });
    runId = history.events?.[0]?.workflowExecutionStartedEventAttributes?.continuedExecutionRunId;
  }
  return runs;
}
