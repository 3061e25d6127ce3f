// Records a history of each branch of exportSite under test/replay/export-site/, for this release:
//   node --import ./scripts/typescript.js test/replay/record-export-site.ts 0.1 [BRANCH] [FOLDER]
// It takes the workflow bundle that the last `npm test` made.
import { readFile, writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { startMailbox } from '../../embedded/mailbox/mailbox.ts';
import { startDevServer } from '../helpers/temporal.ts';
import { workflowBundles } from '../helpers/workflow-bundles.ts';
import { type SiteFixture, startSiteFixture } from '../workflows/site-fixture.ts';
import { createSiteWorker, type SiteWorkerOptions } from '../workflows/site-worker.ts';
import { asWorkflowServer } from '../workflows/use-temporal.ts';
import { record, unrecorded } from './recorder.ts';

type Options = { settings?: Record<string, unknown>; worker?: Partial<SiteWorkerOptions> };
type Play = (site: SiteFixture) => Promise<void>;

const branches: { name: string; options: Options; play: Play }[] = [];

function branch(name: string, options: Options, play: Play): void {
  branches.push({ name, options, play });
}

async function live(site: SiteFixture, jobs: number): Promise<void> {
  await site.until(`live with job ${jobs}`, ({ phase }) => phase === 'live' && site.api.jobs.length === jobs);
}

async function exporting(site: SiteFixture): Promise<void> {
  await site.until('exporting', ({ phase, jobId }) => phase === 'exporting' && jobId !== null);
}

async function editValues({ valuesFile }: SiteFixture, edit: (text: string) => string): Promise<void> {
  await writeFile(valuesFile, edit(await readFile(valuesFile, 'utf8')));
}

const mailbox = await startMailbox();
const operators = ['ada@example.com', 'grace@example.com'];

branch('published-and-refreshed', { worker: { searchAttributes: true } }, async (site) => {
  site.api.behaviour.linkLifetimeMs = 4_000;
  await site.publish();
  await live(site, 1);
  const { linkExpiresAt } = await site.state();
  await site.until('refreshed', (state) => state.linkExpiresAt !== linkExpiresAt);
});

branch('published-while-exporting', {}, async (site) => {
  site.api.behaviour.jobDurationMs = 3_000;
  await site.publish();
  await exporting(site);
  await site.publish();
  await live(site, 2);
});

branch('replaced-by-a-newer-publish', { settings: { whenBusy: 'cancel', maxWait: '1m' } }, async (site) => {
  site.api.behaviour.jobDurationMs = 30_000;
  await site.publish();
  await exporting(site);
  site.api.behaviour.jobDurationMs = 0;
  const [first] = site.api.jobs;
  if (first) first.startedAtMs = Number.MAX_SAFE_INTEGER;
  await site.publish();
  await live(site, 2);
});

branch('failed-and-published-again', {}, async (site) => {
  site.api.behaviour.succeed = false;
  await site.publish();
  await site.until('failed', ({ phase }) => phase === 'failed');
  site.api.behaviour.succeed = true;
  await site.publish();
  await live(site, 2);
});

branch(
  'operators-told-of-trouble-and-its-end',
  { settings: { tellAfter: '1s' }, worker: { smtp: { url: mailbox.smtpUrl, from: 'galley@example.com' }, operators } },
  async (site) => {
    site.api.behaviour.succeed = false;
    await site.publish();
    await site.until('told', ({ trouble }) => trouble?.mails.length === operators.length);
    site.api.behaviour.succeed = true;
    await site.publish();
    await site.until('well again', ({ phase, trouble }) => phase === 'live' && trouble === null);
  },
);

branch('old-job-refused', {}, async (site) => {
  await site.publish();
  await live(site, 1);
  const [old] = site.api.jobs;
  const body = JSON.stringify({ jobId: old?.jobId, createdAt: new Date(old?.createdAtMs ?? 0).toISOString() });
  let left = 1;
  site.api.behaviour.intercept = ({ method, path }) =>
    method === 'POST' && path === '/v1/static-export/jobs' && left-- > 0 ? { status: 202, body } : undefined;
  await site.publish();
  await live(site, 2);
});

branch('sent-away-for-an-hour', {}, async (site) => {
  site.api.behaviour.intercept = () => ({ status: 429, headers: { 'retry-after': '3600' } });
  await site.publish();
  await site.until('sent away', ({ lastError }) => lastError?.status === 429);
  await site.publish();
  await sleep(500);
});

branch('given-up-after-its-timeout', { settings: { timeout: '3s' } }, async (site) => {
  site.api.behaviour.jobDurationMs = 3_600_000;
  await site.publish();
  await site.until('given up', ({ phase }) => phase === 'failed');
});

branch('key-refused-and-mended', {}, async (site) => {
  site.api.behaviour.linkLifetimeMs = 3_000;
  await site.publish();
  await live(site, 1);
  site.api.behaviour.intercept = () => ({ status: 401 });
  await site.publish();
  await site.until('refused', ({ phase }) => phase === 'failed');
  await site.until('refresh refused', () => site.api.calls.filter(({ path }) => path.endsWith('/bundle')).length > 2);
  site.api.behaviour.intercept = () => undefined;
  await live(site, 2);
});

branch('bundle-gone', {}, async (site) => {
  await site.publish();
  await live(site, 1);
  site.api.behaviour.intercept = ({ path }) => (path.endsWith('1/bundle') ? { status: 404 } : undefined);
  await site.handle.executeUpdate('refreshNow').catch(() => {});
  await live(site, 2);
});

branch('paused-and-resumed', {}, async (site) => {
  await site.publish();
  await live(site, 1);
  await site.handle.executeUpdate('pause');
  await site.publish();
  await site.handle.executeUpdate('refreshNow');
  await site.handle.executeUpdate('resume');
  await live(site, 2);
  await site.handle.executeUpdate('exportNow');
  await live(site, 3);
});

branch('rolled-back-while-exporting', {}, async (site) => {
  await site.publish();
  await live(site, 1);
  await site.publish();
  await live(site, 2);
  site.api.behaviour.jobDurationMs = 5_000;
  await site.publish();
  await exporting(site);
  await site.handle.executeUpdate('rollback', { args: [site.api.jobs[0]?.jobId ?? ''] });
  await sleep(500);
});

branch('held-by-a-pin-and-let-go', {}, async (site) => {
  await site.publish();
  await live(site, 1);
  await editValues(site, (text) => `${text}  version: v1\n`);
  await site.publish();
  await site.until('held', ({ phase }) => phase === 'held');
  await sleep(500);
  await editValues(site, (text) => text.replace('  version: v1\n', ''));
  await live(site, 2);
});

branch('pinned-while-live', {}, async (site) => {
  await site.publish();
  await live(site, 1);
  await site.publish();
  await live(site, 2);
  await editValues(site, (text) => `${text}  version: v1\n`);
  await site.handle.signal('configChanged');
  await site.until('held at v1', ({ deployments }) => deployments[0]?.version === 'v1');
  await editValues(site, (text) => text.replace('  version: v1\n', ''));
  await live(site, 2);
});

branch('switched-off-and-on', {}, async (site) => {
  await site.publish();
  await live(site, 1);
  await editValues(site, (text) => text.replace('enabled: true', 'enabled: false'));
  await site.handle.signal('configChanged');
  await site.until('off', ({ phase }) => phase === 'off');
  await site.publish();
  await site.until('exported while off', ({ phase }) => phase === 'off' && site.api.jobs.length === 2);
  await editValues(site, (text) => text.replace('enabled: false', 'enabled: true'));
  await live(site, 2);
});

branch('two-deployments', {}, async (site) => {
  site.configure({ deployments: [{ valuesFile: site.valuesFile }, { valuesFile: `${site.valuesFile}.other` }] });
  await site.publish();
  await live(site, 1);
  await site.handle.executeUpdate('refreshNow');
  await site.publish();
  await live(site, 2);
  await site.handle.executeUpdate('rollback', { args: [site.api.jobs[0]?.jobId ?? ''] });
});

branch('continued-as-new-while-exporting', {}, async (site) => {
  site.api.behaviour.jobDurationMs = 3_600_000;
  await site.publish();
  await exporting(site);
  const { runId } = await site.handle.describe();
  while ((await site.handle.describe()).runId === runId) {
    for (let count = 0; count < 20; count++) await site.publish();
  }
  site.api.behaviour.jobDurationMs = 0;
  await live(site, 2);
});

branch('continued-as-new-while-paused', {}, async (site) => {
  site.api.behaviour.jobDurationMs = 3_600_000;
  await site.publish();
  await exporting(site);
  await site.handle.executeUpdate('pause');
  await site.continueAsNew();
  site.api.behaviour.jobDurationMs = 0;
  await site.until('finished in the pause', ({ phase }) => phase === 'paused');
});

branch('unknown-to-its-worker-and-known-again', {}, async (site) => {
  await site.publish();
  await live(site, 1);
  site.configure(undefined);
  await site.publish();
  await site.until('unconfigured', ({ phase }) => phase === 'unconfigured' && site.api.jobs.length === 2);
  site.configure({});
  await live(site, 2);
});

branch('unknown-from-the-start', {}, async (site) => {
  site.configure(undefined);
  await site.publish();
  await site.until('unconfigured', ({ phase }) => phase === 'unconfigured');
  site.configure({});
  await live(site, 1);
});

branch('removed-while-exporting', {}, async (site) => {
  site.api.behaviour.jobDurationMs = 3_600_000;
  await site.publish();
  await exporting(site);
  await site.handle.executeUpdate('remove');
  await site.handle.result();
});

branch('continued-as-new-for-another-build', {}, async (site) => {
  await site.publish();
  await live(site, 1);
  const { runId } = await site.handle.describe();
  await site.stopWorker();
  const code = await readFile(workflowBundles.orchestrator.codePath, 'utf8');
  await site.startWorker({ workflowBundle: { code: `// another build\n${code}` } });
  while ((await site.handle.describe()).runId === runId) {
    await site.publish();
    await sleep(500);
  }
  await site.until('live again', ({ phase }) => phase === 'live');
});

const temporal = await startDevServer();
const server = asWorkflowServer(temporal);
for (const { name, play, options } of unrecorded(branches, () => 'export-site')) {
  const worker = await createSiteWorker({ client: server.client, connection: server.connection, ...options.worker });
  const site = await startSiteFixture({ server, worker, settings: options.settings ?? {} });
  await play(site);
  await record('export-site', name, site.handle.workflowId, temporal.address);
  await site.close();
  await worker.close();
}
await temporal.stop();
await mailbox.stop();
process.exit(0);
