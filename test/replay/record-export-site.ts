// Records a history of each branch of exportSite under test/replay/export-site/, for this release:
//   node --import ./scripts/typescript.js test/replay/record-export-site.ts 0.1 [BRANCH] [FOLDER]
// It takes the workflow bundle that the last `npm test` made.
import { readFile, writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { startMailbox } from '../../embedded/mailbox/mailbox.ts';
import { startDevServer } from '../helpers/temporal.ts';
import { type SiteFixture, startSiteFixture } from '../workflows/site-fixture.ts';
import { createSiteWorker, type SiteWorkerOptions } from '../workflows/site-worker.ts';
import { asWorkflowServer } from '../workflows/use-temporal.ts';
import { record, unrecorded } from './recorder.ts';

type Branch = {
  name: string;
  settings?: Record<string, unknown>;
  worker?: Partial<SiteWorkerOptions>;
  play: (site: SiteFixture) => Promise<void>;
};

async function live(site: SiteFixture, jobs: number): Promise<void> {
  await site.until(`live with job ${jobs}`, ({ phase }) => phase === 'live' && site.api.jobs.length === jobs);
}

async function exporting(site: SiteFixture): Promise<void> {
  await site.until('exporting', ({ phase, jobId }) => phase === 'exporting' && jobId !== null);
}

const mailbox = await startMailbox();
const operators = ['ada@example.com', 'grace@example.com'];

const branches: Branch[] = [
  {
    name: 'published-and-refreshed',
    worker: { searchAttributes: true },
    async play(site) {
      site.api.behaviour.linkLifetimeMs = 4_000;
      await site.publish();
      await live(site, 1);
      const { linkExpiresAt } = await site.state();
      await site.until('refreshed', (state) => state.linkExpiresAt !== linkExpiresAt);
    },
  },
  {
    name: 'published-while-exporting',
    async play(site) {
      site.api.behaviour.jobDurationMs = 3_000;
      await site.publish();
      await exporting(site);
      await site.publish();
      await live(site, 2);
    },
  },
  {
    name: 'replaced-by-a-newer-publish',
    settings: { whenBusy: 'cancel', maxWait: '1m' },
    async play(site) {
      site.api.behaviour.jobDurationMs = 30_000;
      await site.publish();
      await exporting(site);
      site.api.behaviour.jobDurationMs = 0;
      const [first] = site.api.jobs;
      if (first) first.startedAtMs = Number.MAX_SAFE_INTEGER;
      await site.publish();
      await live(site, 2);
    },
  },
  {
    name: 'failed-and-published-again',
    async play(site) {
      site.api.behaviour.succeed = false;
      await site.publish();
      await site.until('failed', ({ phase }) => phase === 'failed');
      site.api.behaviour.succeed = true;
      await site.publish();
      await live(site, 2);
    },
  },
  {
    name: 'operators-told-of-trouble-and-its-end',
    settings: { tellAfter: '1s' },
    worker: { smtp: { url: mailbox.smtpUrl, from: 'galley@example.com' }, operators },
    async play(site) {
      site.api.behaviour.succeed = false;
      await site.publish();
      await site.until('told', ({ trouble }) => trouble?.mails.length === operators.length);
      site.api.behaviour.succeed = true;
      await site.publish();
      await site.until('well again', ({ phase, trouble }) => phase === 'live' && trouble === null);
    },
  },
  {
    name: 'given-up-after-its-timeout',
    settings: { timeout: '3s' },
    async play(site) {
      site.api.behaviour.jobDurationMs = 3_600_000;
      await site.publish();
      await site.until('given up', ({ phase }) => phase === 'failed');
    },
  },
  {
    name: 'key-refused-and-mended',
    async play(site) {
      site.api.behaviour.linkLifetimeMs = 3_000;
      await site.publish();
      await live(site, 1);
      site.api.behaviour.intercept = () => ({ status: 401 });
      await site.publish();
      await site.until('refused', ({ phase }) => phase === 'failed');
      await site.until(
        'refresh refused',
        () => site.api.calls.filter(({ path }) => path.endsWith('/bundle')).length > 2,
      );
      site.api.behaviour.intercept = () => undefined;
      await live(site, 2);
    },
  },
  {
    name: 'bundle-gone',
    async play(site) {
      await site.publish();
      await live(site, 1);
      site.api.behaviour.intercept = ({ path }) => (path.endsWith('1/bundle') ? { status: 404 } : undefined);
      await site.handle.executeUpdate('refreshNow').catch(() => {});
      await live(site, 2);
    },
  },
  {
    name: 'paused-and-resumed',
    async play(site) {
      await site.publish();
      await live(site, 1);
      await site.handle.executeUpdate('pause');
      await site.publish();
      await site.handle.executeUpdate('refreshNow');
      await site.handle.executeUpdate('resume');
      await live(site, 2);
      await site.handle.executeUpdate('exportNow');
      await live(site, 3);
    },
  },
  {
    name: 'rolled-back-while-exporting',
    async play(site) {
      await site.publish();
      await live(site, 1);
      await site.publish();
      await live(site, 2);
      site.api.behaviour.jobDurationMs = 5_000;
      await site.publish();
      await exporting(site);
      await site.handle.executeUpdate('rollback', { args: [site.api.jobs[0]?.jobId ?? ''] });
      await sleep(500);
    },
  },
  {
    name: 'held-by-a-pin-and-let-go',
    async play(site) {
      await site.publish();
      await live(site, 1);
      const text = await readFile(site.valuesFile, 'utf8');
      await writeFile(site.valuesFile, `${text}  version: v1\n`);
      await site.publish();
      await site.until('held', ({ phase }) => phase === 'held');
      await sleep(500);
      await writeFile(
        site.valuesFile,
        await readFile(site.valuesFile, 'utf8').then((now) => now.replace('  version: v1\n', '')),
      );
      await live(site, 2);
    },
  },
  {
    name: 'pinned-while-live',
    async play(site) {
      await site.publish();
      await live(site, 1);
      await site.publish();
      await live(site, 2);
      const text = await readFile(site.valuesFile, 'utf8');
      await writeFile(site.valuesFile, `${text}  version: v1\n`);
      await site.handle.signal('configChanged');
      await site.until('held at v1', ({ deployments }) => deployments[0]?.version === 'v1');
      await writeFile(
        site.valuesFile,
        await readFile(site.valuesFile, 'utf8').then((now) => now.replace('  version: v1\n', '')),
      );
      await live(site, 2);
    },
  },
  {
    name: 'taken-out-of-the-configuration',
    async play(site) {
      await site.publish();
      await live(site, 1);
      site.configure(undefined);
      await site.handle.signal('configChanged');
      await site.handle.result();
    },
  },
  {
    name: 'continued-as-new-while-exporting',
    async play(site) {
      site.api.behaviour.jobDurationMs = 3_600_000;
      await site.publish();
      await exporting(site);
      const { runId } = await site.handle.describe();
      while ((await site.handle.describe()).runId === runId) {
        for (let count = 0; count < 20; count++) await site.publish();
      }
      site.api.behaviour.jobDurationMs = 0;
      await live(site, 2);
    },
  },
];

const temporal = await startDevServer();
const server = asWorkflowServer(temporal);
for (const { name, play, worker: own, settings = {} } of unrecorded(branches, () => 'export-site')) {
  const worker = await createSiteWorker({ client: server.client, connection: server.connection, ...own });
  const site = await startSiteFixture({ server, worker, settings });
  await play(site);
  await record('export-site', name, site.handle.workflowId, temporal.address);
  await site.close();
  await worker.close();
}
await temporal.stop();
await mailbox.stop();
process.exit(0);
