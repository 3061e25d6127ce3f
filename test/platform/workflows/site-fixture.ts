import { type ExportRig, startExportRig } from '../../helpers/export-rig.ts';
import { externalFiles, fixtureSite } from '../../helpers/fixture-site.ts';
import { type HttpSite, serveFiles, startHttpSite } from '../../helpers/http-site.ts';
import { createDatabase } from '../../helpers/test-database.ts';

export type SiteFixture = {
  rig: ExportRig;
  site: HttpSite;
  assets: HttpSite;
  /** Restores the fixture site and clears the recorded requests. */
  reset(): void;
  /** The keys of a job's work in the object store. */
  leftovers(jobId: string): Promise<string[]>;
  stop(): Promise<void>;
};

/** The fixture site, its assets on another host, and a worker with batches so small that every job has several. */
export async function startSiteFixture(): Promise<SiteFixture> {
  const rig = await startExportRig(await createDatabase());
  const assets = await startHttpSite(serveFiles(externalFiles));
  const site = await startHttpSite(serveFiles({}));
  await rig.startWorker({
    privateHosts: [assets.host],
    batchFiles: 6,
    parallelActivities: 2,
    maxBufferedBytes: 200_000,
  });
  return {
    rig,
    site,
    assets,
    reset() {
      site.requests.length = 0;
      site.setHandler(serveFiles(fixtureSite(assets.origin)));
    },
    leftovers: (jobId) => rig.keys(`exports/${jobId}/`),
    async stop() {
      await rig.stop();
      await site.close();
      await assets.close();
    },
  };
}
