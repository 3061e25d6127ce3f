import { type Mailbox, startMailbox } from '../../embedded/mailbox/mailbox.ts';
import { waitFor } from '../helpers/system/wait-for.ts';
import type { SiteFixture } from './site-fixture.ts';
import { useSites } from './use-sites.ts';

const operators = ['ada@example.com', 'grace@example.com'];
let mailbox: Mailbox | undefined;

beforeAll(async () => {
  mailbox = await startMailbox();
});
afterAll(() => mailbox?.stop());

const { startSite } = useSites('dev-server', () => ({
  smtp: { url: mailbox?.smtpUrl ?? '', from: 'Galley <galley@example.com>' },
  operators,
}));

const mailsOf = async ({ site }: SiteFixture) =>
  ((await mailbox?.mails()) ?? []).filter(({ subject }) => subject.includes(`[${site}]`));

/** A site that serves 7 pages, and whose next export lacks most of them and so waits for a review. */
async function heldSite(): Promise<SiteFixture> {
  const site = await startSite({ guards: { maxShrink: '20%' } });
  await site.publish();
  await site.until('live', ({ phase }) => phase === 'live');
  site.api.behaviour.pageCount = 2;
  site.api.behaviour.content = 2;
  await site.publish();
  await site.until('held', ({ phase }) => phase === 'review');
  return site;
}

const outcomesOf = async (site: SiteFixture) => (await site.state()).exports.map(({ outcome }) => outcome);

describe('an export beyond the guards', () => {
  it.concurrent('waits, is mailed to each operator once, keeps the served version, and is deployed when approved', async () => {
    const site = await heldSite();
    const held = await site.state();
    expect(held).toMatchObject({ version: 'v1', lastError: null, pendingCount: 0 });
    expect(held.review).toMatchObject({ version: 'v2', jobId: site.api.jobs[1]?.jobId });
    expect(held.review?.reasons).toEqual(['2 pages instead of 7: 71 % fewer (maxShrink is 20 %)']);
    expect(await outcomesOf(site)).toEqual(['held', 'written']);
    expect((await site.deployed())?.content).toBe(0);
    await waitFor(async () => (await mailsOf(site)).length === 2, { describe: 'a mail to each operator' });

    // A refresh must not end the review.
    await site.handle.executeUpdate('refreshNow');
    await site.handle.executeUpdate('approve', { args: [{ actor: 'ada' }] });
    expect(await site.state()).toMatchObject({ phase: 'live', version: 'v2', review: null });
    expect((await site.deployed())?.content).toBe(2);
    expect(await outcomesOf(site)).toEqual(['written', 'written']);
    expect((await site.state()).actions[0]).toMatchObject({
      action: 'approve',
      actor: 'ada',
      detail: 'v2',
      error: null,
    });
    await expect(site.handle.executeUpdate('approve')).rejects.toMatchObject({
      cause: { message: 'no export waits for a review' },
    });
    const mails = await mailsOf(site);
    expect(mails.flatMap(({ to }) => to.map(({ address }) => address)).sort()).toEqual(operators);
    expect(mails[0]?.subject).toContain('v2 waits for a review');
    expect(mails[0]?.text?.replaceAll(/\s+/g, ' ')).toContain(`galley sites approve ${site.site}`);
  });

  it.concurrent('is dropped when rejected, and the next publish is compared with what is served', async () => {
    const site = await heldSite();
    await site.handle.executeUpdate('reject', { args: [{ actor: 'grace' }] });
    expect(await site.state()).toMatchObject({ phase: 'live', version: 'v1', review: null });
    await site.publish();
    const again = await site.until('held again', ({ phase }) => phase === 'review');
    expect(again.review?.version).toBe('v3');
    site.api.behaviour.pageCount = 6;
    site.api.behaviour.content = 4;
    await site.publish();
    await site.until('live', ({ phase, version }) => phase === 'live' && version === 'v4');
    expect(await outcomesOf(site)).toEqual(['written', 'superseded', 'rejected', 'written']);
    expect((await site.deployed())?.content).toBe(4);
  });

  it.concurrent('cannot be approved after its bundle was lost, and a rollback ends the review', async () => {
    const site = await heldSite();
    site.api.behaviour.intercept = ({ path }) => (path.endsWith('/bundle') ? { status: 410 } : undefined);
    await expect(site.handle.executeUpdate('approve', { args: [{ actor: 'ada' }] })).rejects.toMatchObject({
      cause: { message: expect.stringContaining("can't be deployed") },
    });
    site.api.behaviour.intercept = () => undefined;
    expect(await site.state()).toMatchObject({ phase: 'review', version: 'v1' });
    await site.handle.executeUpdate('rollback', { args: ['v1'] });
    expect(await site.state()).toMatchObject({ phase: 'live', version: 'v1', review: null });
    expect(await outcomesOf(site)).toEqual(['canceled', 'written']);
  });

  // Last and alone, because it replaces the worker.
  it('still waits in the next run', async () => {
    const site = await heldSite();
    await waitFor(async () => (await mailsOf(site)).length === 2, { describe: 'a mail to each operator' });
    await site.handle.executeUpdate('pause');
    await site.continueInNewBuild();
    await site.handle.executeUpdate('approve');
    expect(await site.state()).toMatchObject({ phase: 'paused', version: 'v2', review: null });
    expect(await mailsOf(site)).toHaveLength(2);
  });
});

describe('the mails about a review', () => {
  it('go to at most 50 operators, and the site goes on when another one takes the place of one of them', async () => {
    operators.push(...Array.from({ length: 48 }, (_, index) => `operator-${index}@example.com`));
    const site = await heldSite();
    await waitFor(async () => (await mailsOf(site)).length === 50, { describe: 'a mail to each operator' });
    operators.splice(0, 1, 'lin@example.com');
    // Reads the settings again.
    await site.handle.executeUpdate('refreshNow');
    await site.handle.executeUpdate('approve');
    expect(await site.state()).toMatchObject({ phase: 'live', version: 'v2', review: null });
    expect(await mailsOf(site)).toHaveLength(50);
  });
});
