import { readFile } from 'node:fs/promises';
import { WATCHDOG_SCHEDULE } from '../../contract/names.ts';
import { ensureSchedule, WATCHDOG } from '../../programs/temporal/schedules.ts';
import { startHttpSite } from '../helpers/http-site.ts';
import { startScriptedSmtp } from '../helpers/smtp-server.ts';
import { waitFor } from '../helpers/system/wait-for.ts';
import { workflowBundles } from '../helpers/workflow-bundles.ts';
import { startSiteFixture } from './site-fixture.ts';
import { createSiteWorker } from './site-worker.ts';
import { useTemporal } from './use-temporal.ts';

const { server, closeLater, atTheEnd } = useTemporal('dev-server');

/** A release whose `exportSite` can't replay the histories of the previous release. */
async function incompatibleBundle(): Promise<{ code: string }> {
  const code = await readFile(workflowBundles.orchestrator.codePath, 'utf8');
  expect(code).toContain('readSiteSettings');
  return { code: code.replaceAll('readSiteSettings', 'readOtherSettings') };
}

async function checks(status = 'Completed'): Promise<string[]> {
  const ids: string[] = [];
  const query = `WorkflowType = 'watchdog' AND ExecutionStatus = '${status}'`;
  for await (const { workflowId } of server().client.workflow.list({ query })) ids.push(workflowId);
  return ids;
}

async function moreChecks(count: number): Promise<void> {
  const target = (await checks()).length + count;
  await waitFor(async () => (await checks()).length >= target, { describe: `checked ${count} more times` });
}

describe('the watchdog', () => {
  it('sends one mail when the workflow tasks of a site fail, and one when they no longer do', async () => {
    const { client, connection } = server();
    const mails = await startScriptedSmtp();
    atTheEnd(mails.close);
    const heartbeats: string[] = [];
    const monitor = await startHttpSite((request, response) => {
      heartbeats.push(request.url ?? '');
      response.end('OK');
    });
    atTheEnd(monitor.close);
    const worker = await createSiteWorker({
      client,
      connection,
      searchAttributes: true,
      smtp: { url: mails.url, from: 'galley@example.com' },
      operators: ['ops@example.com'],
      heartbeatUrl: `${monitor.origin}/ping/secret`,
    });
    atTheEnd(worker.close);
    const site = closeLater(await startSiteFixture({ server: server(), worker }));
    const healthy = closeLater(await startSiteFixture({ server: server(), worker }));
    for (const each of [site, healthy]) {
      await each.publish();
      await each.until('live', ({ phase }) => phase === 'live');
    }
    const schedule = client.schedule.getHandle(WATCHDOG_SCHEDULE);
    const watchdog = { ...WATCHDOG, taskQueue: worker.taskQueue };
    await ensureSchedule(client, { ...watchdog, intervalMs: 3_600_000 });
    // A worker of a newer release changes the interval.
    await ensureSchedule(client, { ...watchdog, intervalMs: 1_000 });
    await moreChecks(2);
    expect(mails.taken).toEqual([]);
    expect(new Set(heartbeats)).toEqual(new Set(['/ping/secret']));

    await worker.stop();
    await worker.start({ workflowBundle: await incompatibleBundle() });
    await site.publish();
    await waitFor(() => mails.taken.length > 0, { describe: 'mailed the problem' });
    await moreChecks(3);
    expect(mails.taken).toHaveLength(1);
    const [opened] = mails.taken;
    expect(opened?.to).toEqual(['ops@example.com']);
    expect(opened?.data).toContain(`Subject: [watchdog] Trouble with the site ${site.site}`);
    expect(opened?.data).toContain('its workflow task fails');

    await worker.stop();
    await worker.start({ workflowBundle: workflowBundles.orchestrator });
    await waitFor(() => mails.taken.length > 1, { describe: 'mailed that it is solved' });
    const beats = heartbeats.length;
    await moreChecks(3);
    expect(mails.taken.map(({ data }) => /^Subject: (.*)/m.exec(data)?.[1])).toEqual([
      `[watchdog] Trouble with the site ${site.site}`,
      `[watchdog] No more trouble with the site ${site.site}`,
    ]);
    expect(heartbeats.length).toBeGreaterThan(beats);

    await schedule.delete();
    const ids = [...(await checks()), ...(await reports())];
    closeLater({ workflowIds: () => ids, close: async () => {} });
  });
});

async function reports(): Promise<string[]> {
  const ids: string[] = [];
  const query = `WorkflowType = 'watchdogReport'`;
  for await (const { workflowId } of server().client.workflow.list({ query })) ids.push(workflowId);
  return ids;
}
