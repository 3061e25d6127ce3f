import type { Review } from '../../../contract/pull-request-event.ts';
import {
  hasVerdict,
  isRequestedReviewer,
  isWithdrawn,
  nextReminder,
} from '../../../workflows/agent-change/schedule.ts';
import fc from '../../helpers/fast-check.ts';

const DAY_MS = 86_400_000;

describe('reminders', () => {
  it('are due at each of their times, and several missed ones are sent as one', () => {
    const settings = { sinceMs: 1_000, remindAfterMs: [DAY_MS, 2 * DAY_MS, 5 * DAY_MS], doneUpToMs: 0 };
    expect(nextReminder(settings, 1_000)).toEqual({ atMs: 1_000 + DAY_MS, afterMs: DAY_MS });
    expect(nextReminder(settings, 3 * DAY_MS)).toEqual({ atMs: 1_000 + 2 * DAY_MS, afterMs: 2 * DAY_MS });
    expect(nextReminder({ ...settings, doneUpToMs: 2 * DAY_MS }, 3 * DAY_MS)?.afterMs).toBe(5 * DAY_MS);
    expect(nextReminder({ ...settings, doneUpToMs: 5 * DAY_MS }, 9 * DAY_MS)).toBeNull();
    expect(nextReminder({ ...settings, remindAfterMs: [] }, 9 * DAY_MS)).toBeNull();
  });

  it('are due once each, in order and never early', () => {
    const times = fc.uniqueArray(fc.integer({ min: 1, max: 40 }), { maxLength: 8 });
    fc.assert(
      fc.property(times, fc.array(fc.nat(12), { maxLength: 30 }), (days, waits) => {
        const remindAfterMs = days.toSorted((a, b) => a - b);
        const done: number[] = [];
        let nowMs = 0;
        for (const wait of [...waits, 100]) {
          nowMs += wait;
          const next = nextReminder({ sinceMs: 0, remindAfterMs, doneUpToMs: done.at(-1) ?? 0 }, nowMs);
          if (next === null || next.atMs > nowMs) continue;
          expect(next.afterMs).toBeLessThanOrEqual(nowMs);
          done.push(next.afterMs);
        }
        expect(done).toEqual([...new Set(done)].toSorted((a, b) => a - b));
        expect(done.at(-1)).toBe(remindAfterMs.at(-1));
        expect(remindAfterMs).toEqual(expect.arrayContaining(done));
      }),
    );
  });
});

describe('a verdict that ends the reminders', () => {
  const at = '2026-11-21T08:00:00Z';
  const refused = [{ name: 'ada', reason: 'no collaborator' }];
  const plan = { title: 'T', mails: ['ada@example.com'], logins: ['ada'], teams: [], unknownLogins: false };
  const requested = { requested: ['Ada'], refused: [] };

  it.each<[string, Review, boolean]>([
    ['approval', { reviewer: 'ada', verdict: 'approved', at }, true],
    ['request for changes', { reviewer: 'ADA', verdict: 'changes-requested', at }, true],
    ['remark', { reviewer: 'ada', verdict: 'commented', at }, false],
    ['approval by someone else', { reviewer: 'bob', verdict: 'approved', at }, false],
    ['approval by a bot of that login', { reviewer: 'ada', verdict: 'approved', at, bot: true }, false],
  ])('may be an %s: %p is %s', (_, review, expected) => {
    expect(hasVerdict({ plan, reviewRequests: requested, reviews: [review] })).toBe(expected);
  });

  it.each([
    ['no review could be requested on the forge', { ...plan }, { requested: [], refused }],
    ['a review was requested from a team', { ...plan, teams: ['docs'] }, { requested: ['ada', 'docs'], refused: [] }],
    ['the login of a mail recipient is unknown', { ...plan, unknownLogins: true }, requested],
    ['no reviewer has a login', { ...plan, logins: [] }, { requested: [], refused: [] }],
  ])('may come from any person, but not from a bot, if %s', (_, plan, reviewRequests) => {
    const by = (reviewer: string, verdict: Review['verdict'] = 'approved') =>
      hasVerdict({ plan, reviewRequests, reviews: [{ reviewer, verdict, at }] });
    expect([by('bob'), by('bob', 'commented'), by('copilot[bot]')]).toEqual([true, false, false]);
  });
});

describe('a requested reviewer', () => {
  const plan = { title: '', mails: ['Lin@example.com'], logins: ['Ada', 'bob'], teams: ['docs'], unknownLogins: true };
  const reviewRequests = { requested: ['ada', 'docs'], refused: [{ name: 'bob', reason: 'no collaborator' }] };
  const is = (reviewer: string, more = {}) =>
    isRequestedReviewer({ plan, reviewRequests }, { id: '1', reviewer, at: '', ...more });

  it('was asked by name on the forge, or reviews by an address that got the mail', () => {
    expect(['ADA', 'lin@example.com'].map((each) => is(each))).toEqual([true, true]);
  });

  it('is no one else: neither a member of a team, nor whom the forge refused, nor a bot', () => {
    expect(['bob', 'docs', 'mallory', 'ada@example.com', ''].map((each) => is(each))).not.toContain(true);
    expect(is('ada', { bot: true })).toBe(false);
    expect(isRequestedReviewer({ plan: null, reviewRequests }, { id: '1', reviewer: 'ada', at: '' })).toBe(false);
  });

  it('who approved after requesting changes has withdrawn the request', () => {
    const request = { id: '1', reviewer: 'ada', at: '2026-11-21T08:00:00Z' };
    const approved = (at: string) => ({ reviews: [{ reviewer: 'Ada', verdict: 'approved' as const, at }] });
    expect(isWithdrawn(approved('2026-11-21T09:00:00Z'), request)).toBe(true);
    expect(isWithdrawn(approved('2026-11-21T07:00:00Z'), request)).toBe(false);
    expect(isWithdrawn({ reviews: [] }, request)).toBe(false);
  });
});
