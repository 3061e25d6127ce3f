import { ApplicationFailure } from '@temporalio/common';
import { PR_LINK } from './agent-fixture.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS, useAgents } from './use-agents.ts';

const { startAgents, server } = useAgents('time-skipping');
const sleep = (ms: number) => server().sleep(ms);

describe('thirty days without a review', () => {
  it('cause exactly the configured reminders and then expire the change, with a short history', async () => {
    const agents = await startAgents({ remindAfterMs: [2 * DAY_MS, 5 * DAY_MS, 20 * DAY_MS] });
    const change = await agents.startChange('silent');
    await change.result();
    const state = await change.state();
    expect(state).toMatchObject({ phase: 'expired', error: null, nextReminderAt: null });
    expect(agents.mails).toEqual([
      'review-requested ada@example.com',
      'reminder-1 ada@example.com',
      'reminder-2 ada@example.com',
      'reminder-3 ada@example.com',
    ]);
    const sinceMs = Date.parse(state.expiresAt ?? '') - 30 * DAY_MS;
    const days = state.mails.map(({ at }) => Math.round((Date.parse(at) - sinceMs) / (DAY_MS / 100)) / 100);
    expect(days).toEqual([0, 2, 5, 20]);
    // The polls of the forge, one an hour, add nothing to the history.
    expect(agents.reads).toBeGreaterThan(600);
    expect((await change.fetchHistory()).events?.length).toBeLessThan(200);
  });
});

describe('a pull request whose title changes', () => {
  it('keeps the first title in its mails, so that they stay in one thread', async () => {
    const agents = await startAgents({ remindAfterMs: [2 * DAY_MS] });
    const titles: string[] = [];
    agents.outside.onMail = (mail) => {
      if ('pullRequest' in mail) titles.push(mail.pullRequest.title);
      return { outcome: 'sent', detail: null };
    };
    const change = await agents.startChange('renamed');
    await sleep(DAY_MS);
    agents.outside.pullRequest = { ...agents.outside.pullRequest, title: 'Better words for the changelog' };
    await sleep(2 * DAY_MS);
    expect((await change.state()).pullRequest?.title).toBe('Better words for the changelog');
    expect(titles).toEqual(['Update the changelog', 'Update the changelog']);
  });
});

describe('a review', () => {
  it('ends the reminders only if a requested person gave a verdict, and an unreported merge ends the change within an hour', async () => {
    const agents = await startAgents({ remindAfterMs: [DAY_MS, 3 * DAY_MS, 6 * DAY_MS] });
    const change = await agents.startChange('reviewed');
    const at = '2026-11-23T08:00:00Z';
    const review = (reviewer: string, verdict: string, bot = false) =>
      change.signal('reviewed', { deliveryId: reviewer + verdict, url: PR_LINK, reviewer, verdict, at, bot });
    await sleep(12 * HOUR_MS);
    await review('ada', 'commented');
    await review('bob', 'approved');
    await review('copilot[bot]', 'approved');
    await review('ada', 'approved', true);
    await sleep(DAY_MS);
    expect((await change.state()).nextReminderAt).not.toBeNull();
    await review('Ada', 'changes-requested');
    await sleep(10 * DAY_MS);
    expect(await change.state()).toMatchObject({ phase: 'in-review', nextReminderAt: null });
    agents.outside.pullRequest = { ...agents.outside.pullRequest, state: 'merged', mergeCommitSha: 'abc' };
    await sleep(HOUR_MS + MINUTE_MS);
    expect(await change.state()).toMatchObject({ phase: 'merged', pullRequest: { state: 'merged' } });
    expect(agents.mails.filter((mail) => mail.startsWith('reminder'))).toEqual(['reminder-1 ada@example.com']);
  });
});

describe('a review plan that never completes', () => {
  it("is replaced by the rule's own reviewers after an hour", async () => {
    const agents = await startAgents();
    agents.outside.onForge = (call) => {
      if (call === 'plan') throw new Error('interrupted');
    };
    const change = await agents.startChange('endless-plan');
    await sleep(50 * MINUTE_MS);
    expect(await change.state()).toMatchObject({ phase: 'notifying', mails: [] });
    await sleep(15 * MINUTE_MS);
    const { phase, mails, notes } = await change.state();
    expect(phase).toBe('in-review');
    expect(mails.map(({ to }) => to)).toEqual(['ada@example.com']);
    expect(notes).toEqual([expect.stringContaining("who owns the changed files isn't known")]);
  });
});

describe('a mail that is permanently rejected', () => {
  it('is shown in the state, does not stop other mails, and gets no reminder', async () => {
    const agents = await startAgents({ reviewers: ['gone@example.com', 'ada@example.com'], remindAfterMs: [DAY_MS] });
    const refused = { outcome: 'refused', detail: '550 no such user' } as const;
    agents.outside.onMail = ({ to }) => (to === 'gone@example.com' ? refused : { outcome: 'sent', detail: null });
    const change = await agents.startChange('bounced');
    await sleep(3 * DAY_MS);
    const { mails } = await change.state();
    expect(mails.find(({ to }) => to === 'gone@example.com')).toMatchObject(refused);
    expect(mails.filter(({ event }) => event !== 'review-requested')).toMatchObject([
      { event: 'reminder-1', to: 'ada@example.com' },
    ]);
  });
});

describe('a mail that its server defers for a day', () => {
  it('delays neither other mails and their reminders nor events of the pull request', async () => {
    const remindAfterMs = [2 * HOUR_MS];
    const agents = await startAgents({ reviewers: ['slow@example.com', 'ada@example.com'], remindAfterMs });
    let tries = 0;
    agents.outside.onMail = ({ to }) => {
      if (to === 'slow@example.com' && ++tries < 49) {
        throw ApplicationFailure.create({ type: 'MailDeferred', message: '451 later', nextRetryDelay: '30m' });
      }
      return { outcome: 'sent', detail: null };
    };
    const change = await agents.startChange('greylisted');
    await sleep(5 * MINUTE_MS);
    expect(await change.state()).toMatchObject({ phase: 'notifying', mails: [{ to: 'ada@example.com' }] });
    await sleep(3 * HOUR_MS);
    expect((await change.state()).phase).toBe('in-review');
    expect(agents.mails).toEqual(['review-requested ada@example.com', 'reminder-1 ada@example.com']);
    await sleep(DAY_MS);
    const { phase, mails } = await change.state();
    expect(phase).toBe('in-review');
    expect(mails.map(({ event, to, outcome }) => `${event} ${to} ${outcome}`)).toEqual([
      'review-requested ada@example.com sent',
      'reminder-1 ada@example.com sent',
      'review-requested slow@example.com sent',
    ]);
  });
});

describe('a reviewer whose mailbox is full for a day', () => {
  it("delays no other reviewer's reminders", async () => {
    const remindAfterMs = [2 * HOUR_MS, 4 * HOUR_MS];
    const agents = await startAgents({ reviewers: ['full@example.com', 'ada@example.com'], remindAfterMs });
    agents.outside.onMail = ({ to, event }) => {
      if (to === 'full@example.com' && event !== 'review-requested') {
        throw ApplicationFailure.create({ type: 'MailDeferred', message: '452 full', nextRetryDelay: '30m' });
      }
      return { outcome: 'sent', detail: null };
    };
    await agents.startChange('full');
    await sleep(5 * HOUR_MS);
    expect(agents.mails.filter((mail) => mail.startsWith('reminder'))).toEqual([
      'reminder-1 ada@example.com',
      'reminder-2 ada@example.com',
    ]);
  });
});

describe('an operator whose mailbox is full for a day', () => {
  it('does not delay the report of a failed change to its rule', async () => {
    const agents = await startAgents({ operators: ['full@example.com'] });
    agents.outside.end = { status: 'failed', prLink: null, error: 'no idea' };
    agents.outside.onMail = () => {
      throw ApplicationFailure.create({ type: 'MailDeferred', message: '452 full', nextRetryDelay: '30m' });
    };
    await agents.publish({ id: 'failing' });
    await sleep(HOUR_MS);
    expect((await agents.ruleState()).changes).toMatchObject([{ end: { phase: 'failed', message: 'no idea' } }]);
  });
});

describe('a rejected API key', () => {
  it('is shown in the state, and retried with back-off until the change expires', async () => {
    const agents = await startAgents({ expireAfterMs: 10 * DAY_MS });
    let tries = 0;
    agents.outside.onCreate = () => {
      tries++;
      throw ApplicationFailure.create({ type: 'KeyRefused', message: '401: unknown key', nonRetryable: true });
    };
    const change = await agents.startChange('refused');
    await sleep(DAY_MS);
    expect(await change.state()).toMatchObject({ phase: 'prompting', error: '401: unknown key', jobId: null });
    expect(tries).toBeLessThan(40);
    await change.result();
    expect(await change.state()).toMatchObject({ phase: 'expired', error: '401: unknown key' });
    expect(tries).toBeGreaterThan(100);
    expect(agents.mails).toEqual([]);
  });

  it('that works again after hours leads to one job with the idempotency key of the first attempt', async () => {
    const agents = await startAgents();
    let refuse = true;
    const keys = new Set<string>();
    agents.outside.onCreate = ({ idempotencyKey }) => {
      keys.add(idempotencyKey);
      if (refuse) throw ApplicationFailure.create({ type: 'KeyRefused', message: '401', nonRetryable: true });
    };
    const change = await agents.startChange('mended');
    await sleep(5 * HOUR_MS);
    refuse = false;
    await sleep(2 * HOUR_MS);
    expect(await change.state()).toMatchObject({ phase: 'in-review', error: null });
    expect(keys.size).toBe(1);
    expect(agents.jobs).toHaveLength(1);
  });
});

describe('a job that never ends', () => {
  it('is canceled after a day, and the operators get a mail', async () => {
    const agents = await startAgents();
    agents.outside.end = null;
    agents.outside.pollAgainMs = 10 * MINUTE_MS;
    const change = await agents.startChange('endless');
    await expect(change.result()).rejects.toThrow();
    const state = await change.state();
    expect(state).toMatchObject({ phase: 'failed', error: expect.stringContaining("didn't end within 1d") });
    expect(agents.canceled).toEqual(['aj_1']);
    expect(agents.mails).toEqual(['job-failed ops@example.com']);
  });
});

describe('a forge that refuses to return the state of the pull request', () => {
  it('is polled once an hour and noted in the state, and the webhook still ends the change', async () => {
    const agents = await startAgents();
    agents.outside.onForge = (call) => {
      if (call === 'read')
        throw ApplicationFailure.create({ type: 'ForgeRefused', message: '403', nonRetryable: true });
    };
    const change = await agents.startChange('blind');
    await sleep(DAY_MS);
    expect(agents.reads).toBeGreaterThanOrEqual(20);
    expect(agents.reads).toBeLessThanOrEqual(26);
    expect((await change.state()).notes).toEqual(["the forge doesn't return the state of the pull request: 403"]);
    const at = '2026-11-23T08:00:00Z';
    await change.signal('pullRequestChanged', {
      deliveryId: 'd',
      url: PR_LINK,
      state: 'closed',
      mergeCommitSha: null,
      at,
    });
    await change.until('closed', ({ phase }) => phase === 'closed');
  });
});

describe('a review whose webhook was lost', () => {
  it('is found before a reminder is sent', async () => {
    const agents = await startAgents({ remindAfterMs: [DAY_MS] });
    const change = await agents.startChange('lost-webhook');
    await sleep(DAY_MS - 5 * MINUTE_MS);
    const reviews = [{ reviewer: 'ada', verdict: 'approved', at: '2026-11-22T08:00:00Z' } as const];
    agents.outside.pullRequest = { ...agents.outside.pullRequest, reviews };
    await sleep(10 * MINUTE_MS);
    expect(await change.state()).toMatchObject({ reviews, nextReminderAt: null });
    expect(agents.mails).toEqual(['review-requested ada@example.com']);
  });
});
