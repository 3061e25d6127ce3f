import { type SiteFixture, startSiteFixture } from './site-fixture.ts';
import { createSiteWorker, type SiteWorker, type SiteWorkerOptions } from './site-worker.ts';
import { type TemporalFixture, useTemporal, type WorkflowServer } from './use-temporal.ts';

export type Sites = {
  server: () => WorkflowServer;
  closeLater: TemporalFixture['closeLater'];
  /** Creates a site. All sites of a file share one worker. */
  startSite: (settings?: Record<string, unknown>) => Promise<SiteFixture>;
};

export function useSites(
  kind: 'dev-server' | 'time-skipping',
  workerOptions: () => Omit<SiteWorkerOptions, 'client' | 'connection'> = () => ({}),
): Sites {
  const { server, closeLater, atTheEnd } = useTemporal(kind);
  let worker: Promise<SiteWorker> | undefined;

  function createWorker(): Promise<SiteWorker> {
    const { client, connection, now } = server();
    // Real waits between polls would stop the server from skipping time.
    const quick = kind === 'time-skipping' ? { quickAsksMs: [], minRefreshIntervalMs: 30_000 } : {};
    return createSiteWorker({ client, connection, clock: now, ...quick, ...workerOptions() });
  }

  atTheEnd(async () => await (await worker)?.close());
  return {
    server,
    closeLater,
    async startSite(settings = {}) {
      worker ??= createWorker();
      return closeLater(await startSiteFixture({ server: server(), worker: await worker, settings }));
    },
  };
}
