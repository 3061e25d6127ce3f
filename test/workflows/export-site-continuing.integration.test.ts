import type { ReceivedMail } from '../../embedded/mailbox/mailbox.ts';
import { type Mailbox, startMailbox } from '../../embedded/mailbox/mailbox.ts';
import { runsOf } from '../helpers/replay.ts';
import { waitFor } from '../helpers/system/wait-for.ts';
import type { SiteFixture } from './site-fixture.ts';
import { useSites } from './use-sites.ts';

const operators = ['ada@example.com', 'grace@example.com'];
let mailbox: Mailbox | undefined;

beforeAll(async () => {
  mailbox = await startMailbox();
});
afterAll(() => mailbox?.stop());

const { startSite, server } = useSites('dev-server', () => ({
  smtp: { url: mailbox?.smtpUrl ?? '', from: 'Galley <galley@example.com>' },
  operators,
}));

async function mailsOf({ site }: SiteFixture): Promise<ReceivedMail[]> {
  return ((await mailbox?.mails()) ?? []).filter(({ subject }) => subject.includes(`[${site}]`));
}

describe('a site', () => {
  it.concurrent('continues as new after a long history, and keeps its job, its pause and every publish', async () => {
    const site = await startSite();
    await site.publish({ id: 'very first' });
    await site.until('live', ({ phase }) => phase === 'live');
    site.api.behaviour.jobDurationMs = 3_600_000;
    site.api.behaviour.content = 2;
    await site.publish();
    await site.until('exporting', ({ phase, exports: [newest] }) => phase === 'exporting' && newest?.jobId != null);
    await site.handle.executeUpdate('pause');

    const continued = site.continueAsNew();
    const refreshes = await Promise.all([1, 2, 3].map(() => site.handle.executeUpdate('refreshNow')));
    expect(refreshes).toHaveLength(3);
    await continued;
    const next = await site.state();
    expect(next).toMatchObject({ phase: 'exporting', jobId: site.api.jobs[0]?.jobId });
    expect(next.exports[0]?.jobId).toBe(site.api.jobs[1]?.jobId);
    expect(next.exports.map(({ number, outcome }) => [number, outcome])).toEqual([
      [2, null],
      [1, 'written'],
    ]);
    expect(next.actions.map(({ action }) => action)).toEqual(['refresh', 'refresh', 'refresh', 'pause']);
    expect(next.deliveries).toHaveLength(200);

    site.api.behaviour.content = 3;
    site.api.behaviour.jobDurationMs = 0;
    await site.until('paused', ({ phase, exports: [newest] }) => phase === 'paused' && newest?.writtenAt != null);
    expect((await site.deployed())?.content).toBe(2);
    await site.handle.executeUpdate('resume');
    await site.until('live with all', ({ phase }) => phase === 'live' && site.api.jobs.length === 3);
    expect((await site.deployed())?.content).toBe(3);
    await site.publish({ id: 'very first' });
    await site.until('ignored', ({ deliveries }) => deliveries[0]?.outcome === 'duplicate');
    const lengths = (await runsOf(server().client, site.handle.workflowId)).map(({ length }) => length);
    expect(Math.max(...lengths)).toBeLessThan(2_000);
  });

  it.concurrent('sends no mail about a failure that is resolved before the configured delay', async () => {
    const site = await startSite({ tellAfter: '1h' });
    site.api.behaviour.succeed = false;
    await site.publish();
    await site.until('failed', ({ phase, trouble }) => phase === 'failed' && trouble !== null);
    site.api.behaviour.succeed = true;
    await site.publish();
    await site.until('over', ({ phase, trouble }) => phase === 'live' && trouble === null);
    expect(await mailsOf(site)).toEqual([]);
  });

  // Last and alone, because it replaces the worker.
  it('that keeps failing sends each operator one mail, also across runs, and one on recovery', async () => {
    const site = await startSite({ tellAfter: '1s' });
    site.api.behaviour.succeed = false;
    await site.publish();
    await site.until('reported', ({ trouble }) => trouble?.mails.length === operators.length);
    await site.continueInNewBuild();
    const { trouble } = await site.until('failed again', ({ phase }) => phase === 'failed');
    expect(trouble?.mails.map(({ event, outcome }) => [event, outcome])).toEqual([
      ['site-trouble', 'sent'],
      ['site-trouble', 'sent'],
    ]);
    const mails = await mailsOf(site);
    expect(mails.map(({ to }) => to[0]?.address).sort()).toEqual(operators);
    expect(mails[0]?.text).toContain(`export:${site.site}`);

    site.api.behaviour.succeed = true;
    await site.publish();
    await site.until('over', ({ phase, trouble }) => phase === 'live' && trouble === null);
    const all = await waitFor(async () => (await mailsOf(site)).length >= 4 && (await mailsOf(site)), {
      describe: 'got the mails',
    });
    expect(all).toHaveLength(2 * operators.length);
    expect(new Set(all.map(({ subject }) => subject)).size).toBe(1);
    expect(new Set(all.map(({ headers }) => headers.references)).size).toBe(1);
    expect(all.filter(({ text }) => text.includes('up to date again'))).toHaveLength(operators.length);
  });
});
