import type { WorkflowHandle } from '@temporalio/client';
import { type RecordedRun, replayErrors } from '../helpers/replay.ts';
import { connectTemporal, type TestTemporal } from '../helpers/temporal.ts';
import { workflowBundles } from '../helpers/workflow-bundles.ts';
import { type SiteBench, type SiteBenchOptions, startSiteBench } from './site-bench.ts';
import { createSiteWorker, type SiteWorker } from './site-worker.ts';

export type Benches = {
  server: () => TestTemporal;
  bench: (options?: Partial<SiteBenchOptions>) => Promise<SiteBench>;
};

/** One real dev server and one worker for a test file, and a bench for each test, all of it gone afterwards. Whatever a test made happen has to replay. */
export function useDevServer(): Benches {
  let server: TestTemporal | undefined;
  let shared: SiteWorker | undefined;
  const benches: SiteBench[] = [];
  const played: RecordedRun[] = [];
  const running = (): TestTemporal => {
    if (!server) throw new Error('the dev server is started by beforeAll');
    return server;
  };

  beforeAll(async () => {
    server = await connectTemporal();
  });
  afterEach(async () => {
    const ended = benches.splice(0);
    try {
      for (const { handle } of ended) played.push(...(await runsOf(handle)));
    } finally {
      await Promise.all(ended.map((each) => each.close()));
    }
    if (shared?.isOfAnotherBuild()) {
      await shared.close();
      shared = undefined;
    }
  });
  afterAll(async () => {
    await shared?.close();
    await server?.stop();
    const errors = await replayErrors(workflowBundles.orchestrator, played);
    expect(errors.filter((error) => error !== undefined)).toEqual([]);
  });

  return {
    server: running,
    async bench({ settings, ...own } = {}) {
      const { client, nativeConnection: connection } = running();
      // A worker of another kind is the bench's own.
      const alone = Object.keys(own).length > 0;
      if (!alone) shared ??= await createSiteWorker({ client, connection });
      const made = await startSiteBench({
        ...{ client, connection, ...own },
        ...(settings && { settings }),
        ...(!alone && shared && { worker: shared }),
      });
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
