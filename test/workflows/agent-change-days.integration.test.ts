import { ApplicationFailure } from '@temporalio/common';
import { PR_LINK } from './agent-bench.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS, useSkippedTime } from './agent-days.ts';

const { bench, env } = useSkippedTime();

describe('thirty days without a review', () => {
  it('bring exactly the configured reminders and an orderly end, in a short history', async () => {
    const rig = await bench({ remindAfterMs: [2 * DAY_MS, 5 * DAY_MS, 20 * DAY_MS] });
    const change = await rig.startChange('silent');
    await change.result();
    const state = await change.state();
    expect(state).toMatchObject({ phase: 'expired', error: null, nextReminderAt: null });
    expect(rig.mails).toEqual([
      'review-requested ada@example.com',
      'reminder-1 ada@example.com',
      'reminder-2 ada@example.com',
      'reminder-3 ada@example.com',
    ]);
    const sinceMs = Date.parse(state.expiresAt ?? '') - 30 * DAY_MS;
    const days = state.mails.map(({ at }) => Math.round((Date.parse(at) - sinceMs) / (DAY_MS / 100)) / 100);
    expect(days).toEqual([0, 2, 5, 20]);
    // The forge was asked about every hour of them, and that left no trace.
    expect(rig.reads).toBeGreaterThan(600);
    expect((await change.fetchHistory()).events?.length).toBeLessThan(200);
  });
});

describe('a pull request that gets another title', () => {
  it('keeps its mails under the first one, so that they stay one thread', async () => {
    const rig = await bench({ remindAfterMs: [2 * DAY_MS] });
    const titles: string[] = [];
    rig.outside.onMail = (mail) => {
      if ('pullRequest' in mail) titles.push(mail.pullRequest.title);
      return { outcome: 'sent', detail: null };
    };
    const change = await rig.startChange('renamed');
    await env().sleep(DAY_MS);
    rig.outside.pullRequest = { ...rig.outside.pullRequest, title: 'Better words for the changelog' };
    await env().sleep(2 * DAY_MS);
    expect((await change.state()).pullRequest?.title).toBe('Better words for the changelog');
    expect(titles).toEqual(['Update the changelog', 'Update the changelog']);
  });
});

describe('a review', () => {
  it('stops the reminders, and the merge that nobody told of ends the change within an hour', async () => {
    const rig = await bench({ remindAfterMs: [DAY_MS, 3 * DAY_MS, 6 * DAY_MS] });
    const change = await rig.startChange('reviewed');
    await env().sleep(2 * DAY_MS);
    expect((await change.state()).nextReminderAt).not.toBeNull();
    const at = '2026-11-23T08:00:00Z';
    await change.signal('reviewed', { deliveryId: 'd', url: PR_LINK, reviewer: 'bob', verdict: 'commented', at });
    await env().sleep(10 * DAY_MS);
    expect(await change.state()).toMatchObject({ phase: 'in-review', nextReminderAt: null, reviews: [{ at }] });
    rig.outside.pullRequest = { ...rig.outside.pullRequest, state: 'merged', mergeCommitSha: 'abc' };
    await env().sleep(HOUR_MS + MINUTE_MS);
    expect(await change.state()).toMatchObject({ phase: 'merged', pullRequest: { state: 'merged' } });
    expect(rig.mails.filter((mail) => mail.startsWith('reminder'))).toEqual(['reminder-1 ada@example.com']);
  });
});

describe('a plan of the review that never comes to an end', () => {
  it('leaves it to the rule’s own reviewers after an hour', async () => {
    const rig = await bench();
    rig.outside.onForge = (call) => {
      if (call === 'plan') throw new Error('interrupted');
    };
    const change = await rig.startChange('endless-plan');
    await env().sleep(50 * MINUTE_MS);
    expect(await change.state()).toMatchObject({ phase: 'notifying', mails: [] });
    await env().sleep(15 * MINUTE_MS);
    const { phase, mails, notes } = await change.state();
    expect(phase).toBe('in-review');
    expect(mails.map(({ to }) => to)).toEqual(['ada@example.com']);
    expect(notes).toEqual([expect.stringContaining("who owns the changed files isn't known")]);
  });
});

describe('a mail that its server puts off for a day', () => {
  it('delays no other mail, no reminder of the others and no news of the pull request', async () => {
    const remindAfterMs = [2 * HOUR_MS];
    const rig = await bench({ reviewers: ['slow@example.com', 'ada@example.com'], remindAfterMs });
    let tries = 0;
    rig.outside.onMail = ({ to }) => {
      if (to === 'slow@example.com' && ++tries < 49) {
        throw ApplicationFailure.create({ type: 'MailDeferred', message: '451 later', nextRetryDelay: '30m' });
      }
      return { outcome: 'sent', detail: null };
    };
    const change = await rig.startChange('greylisted');
    await env().sleep(5 * MINUTE_MS);
    expect(await change.state()).toMatchObject({ phase: 'notifying', mails: [{ to: 'ada@example.com' }] });
    await env().sleep(3 * HOUR_MS);
    expect((await change.state()).phase).toBe('in-review');
    expect(rig.mails).toEqual(['review-requested ada@example.com', 'reminder-1 ada@example.com']);
    await env().sleep(DAY_MS);
    const { phase, mails } = await change.state();
    expect(phase).toBe('in-review');
    expect(mails.map(({ event, to, outcome }) => `${event} ${to} ${outcome}`)).toEqual([
      'review-requested ada@example.com sent',
      'reminder-1 ada@example.com sent',
      'review-requested slow@example.com sent',
    ]);
  });
});

describe('a refused key', () => {
  it('is told in the state, tried again at longer intervals, and gives up only when the change would expire', async () => {
    const rig = await bench({ expireAfterMs: 10 * DAY_MS });
    let tries = 0;
    rig.outside.onCreate = () => {
      tries++;
      throw ApplicationFailure.create({ type: 'KeyRefused', message: '401: unknown key', nonRetryable: true });
    };
    const change = await rig.startChange('refused');
    await env().sleep(DAY_MS);
    expect(await change.state()).toMatchObject({ phase: 'prompting', error: '401: unknown key', jobId: null });
    expect(tries).toBeLessThan(40);
    await change.result();
    expect(await change.state()).toMatchObject({ phase: 'expired', error: '401: unknown key' });
    expect(tries).toBeGreaterThan(100);
    expect(rig.mails).toEqual([]);
  });

  it('that is mended after hours leads to one job under the key of the first try', async () => {
    const rig = await bench();
    let refuse = true;
    const keys = new Set<string>();
    rig.outside.onCreate = ({ idempotencyKey }) => {
      keys.add(idempotencyKey);
      if (refuse) throw ApplicationFailure.create({ type: 'KeyRefused', message: '401', nonRetryable: true });
    };
    const change = await rig.startChange('mended');
    await env().sleep(5 * HOUR_MS);
    refuse = false;
    await env().sleep(2 * HOUR_MS);
    expect(await change.state()).toMatchObject({ phase: 'in-review', error: null });
    expect(keys.size).toBe(1);
    expect(rig.jobs).toHaveLength(1);
  });
});

describe('a job that never ends', () => {
  it('is cancelled after a day, and the operators hear of it', async () => {
    const rig = await bench();
    rig.outside.end = null;
    rig.outside.pollAgainMs = 10 * MINUTE_MS;
    const change = await rig.startChange('endless');
    await expect(change.result()).rejects.toThrow();
    const state = await change.state();
    expect(state).toMatchObject({ phase: 'failed', error: expect.stringContaining("didn't end within 1d") });
    expect(rig.cancelled).toEqual(['aj_1']);
    expect(rig.mails).toEqual(['job-failed ops@example.com']);
  });
});

describe('a forge that refuses to tell how the pull request stands', () => {
  it('is asked about once an hour, is noted, and the webhook still ends the change', async () => {
    const rig = await bench();
    rig.outside.onForge = (call) => {
      if (call === 'read')
        throw ApplicationFailure.create({ type: 'ForgeRefused', message: '403', nonRetryable: true });
    };
    const change = await rig.startChange('blind');
    await env().sleep(DAY_MS);
    expect(rig.reads).toBeGreaterThanOrEqual(20);
    expect(rig.reads).toBeLessThanOrEqual(26);
    expect((await change.state()).notes).toEqual(["the forge doesn't tell how the pull request stands: 403"]);
    const at = '2026-11-23T08:00:00Z';
    await change.signal('pullRequestChanged', {
      deliveryId: 'd',
      url: PR_LINK,
      state: 'closed',
      mergeCommitSha: null,
      at,
    });
    await change.result();
    expect((await change.state()).phase).toBe('closed');
  });
});

describe('a review whose webhook was lost', () => {
  it('is found before a reminder is sent', async () => {
    const rig = await bench({ remindAfterMs: [DAY_MS] });
    const change = await rig.startChange('lost-webhook');
    await env().sleep(DAY_MS - 5 * MINUTE_MS);
    const reviews = [{ reviewer: 'bob', verdict: 'approved', at: '2026-11-22T08:00:00Z' } as const];
    rig.outside.pullRequest = { ...rig.outside.pullRequest, reviews };
    await env().sleep(10 * MINUTE_MS);
    expect(await change.state()).toMatchObject({ reviews, nextReminderAt: null });
    expect(rig.mails).toEqual(['review-requested ada@example.com']);
  });
});
