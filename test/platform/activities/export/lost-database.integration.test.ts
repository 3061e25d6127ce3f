import { MockActivityEnvironment } from '@temporalio/testing';
import { createPlatformActivities } from '../../../../platform/activities/create-platform-activities.ts';
import { openExportStores } from '../../../helpers/export-stores.ts';
import { serveFiles, startHttpSite } from '../../../helpers/http-site.ts';
import { startPostgres } from '../../../helpers/postgres.ts';

describe('an export whose database restarts', () => {
  it.each([
    { during: 'crawling', key: /segments/, held: 'crawl_urls' },
    { during: 'rewriting', key: /members/, held: 'crawl_batches' },
  ])('continues at once: the next attempt releases what was leased while $during', async ({ key, held }) => {
    const postgres = await startPostgres();
    const site = await startHttpSite(serveFiles({ '/': '<p>start' }));
    const stores = await openExportStores(postgres);
    try {
      let isDown = false;
      const objects: typeof stores.objects = {
        ...stores.objects,
        async put(...object) {
          if (key.test(object[0]) && !isDown) {
            isDown = true;
            await postgres.kill();
          }
          return await stores.objects.put(...object);
        },
      };
      const activities = createPlatformActivities({ ...stores, objects });
      const jobId = await stores.addJob(await stores.addProject(site.origin));
      const attempt = <Result>(number: number, activityId: string, work: () => Promise<Result>) =>
        new MockActivityEnvironment({ attempt: number, activityId }).run(work);

      await expect(attempt(1, '1', () => activities.beginExport({ jobId }))).rejects.toThrow();
      expect(isDown).toBe(true);
      await postgres.restart();
      const leased = async () =>
        (await stores.db.execute(`select 1 from ${held} where job_id = '${jobId}' and state = 'leased'`)).rows.length;
      expect(await leased()).toBeGreaterThan(0);
      await attempt(2, '1', () => activities.beginExport({ jobId }));
      expect(await leased()).toBe(0);

      await attempt(1, '2', () => activities.crawlSite({ jobId, maxMs: 60_000 }));
      await attempt(1, '3', () => activities.freezeExport({ jobId }));
      expect(await attempt(1, '4', () => activities.rewriteFiles({ jobId }))).toMatchObject({ done: true });
    } finally {
      await site.close();
      await stores.stop();
    }
  });
});
