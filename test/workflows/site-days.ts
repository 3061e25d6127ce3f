import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { startTimeSkipping } from '../helpers/temporal.ts';
import { type SiteBench, startSiteBench } from './site-bench.ts';
import { createSiteWorker, type SiteWorker } from './site-worker.ts';

export type SiteDays = {
  env: () => TestWorkflowEnvironment;
  /** Closed by whoever asked for it. */
  bench: (settings?: Record<string, unknown>) => Promise<SiteBench>;
};

/** One time-skipping server and one worker for a test file, both gone afterwards. */
export function useSkippedDays(): SiteDays {
  let started: TestWorkflowEnvironment | undefined;
  let worker: SiteWorker | undefined;
  const env = (): TestWorkflowEnvironment => {
    if (started === undefined) throw new Error('the server is started by beforeAll');
    return started;
  };
  const clock = () => env().currentTimeMs();

  beforeAll(async () => {
    started = await startTimeSkipping();
  });
  afterAll(async () => {
    await worker?.close();
    await started?.teardown();
  });

  return {
    env,
    async bench(settings) {
      const { client, nativeConnection: connection } = env();
      // Real seconds spent asking would be real seconds that the skipped ones wait for.
      const quick = { quickAsksMs: [], minRefreshIntervalMs: 30_000 };
      worker ??= await createSiteWorker({ client, connection, clock, ...quick });
      return startSiteBench({ client, connection, clock, worker, ...(settings && { settings }) });
    },
  };
}
