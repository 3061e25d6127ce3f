import type { PullRequestReading } from '../../../contract/pull-request-event.ts';
import {
  applyEarlyEvents,
  applyPullRequestEvent,
  applyReading,
  isSamePage,
  setTitle,
} from '../../../workflows/agent-change/events.ts';
import { type MutableState, newState, type PullRequestEvent } from '../../../workflows/agent-change/state.ts';
import { beginFollowUp, endFollowUp } from '../../../workflows/agent-change/transitions.ts';
import { RULE_SETTINGS } from '../../helpers/rule-settings.ts';
import { runToEnd } from '../../helpers/run-to-end.ts';

const LINK = 'https://github.com/acme/docs/pull/7';
const at = '2026-11-21T12:00:00Z';
const event = { source: 's', topic: 't', action: 'publish', id: '1', title: 'A', url: '', author: '', at } as const;

function inReview(): MutableState {
  return {
    ...newState({ events: [event], eventCount: 1, settings: RULE_SETTINGS }, 0),
    phase: 'in-review',
    prLink: LINK,
  };
}

function changed(fields: object = {}): PullRequestEvent {
  return { deliveryId: 'd1', url: LINK, state: 'merged', mergeCommitSha: 'abc', at, ...fields };
}

function reviewed(fields: object = {}): PullRequestEvent {
  return { deliveryId: 'r1', url: LINK, reviewer: 'Bob', verdict: 'approved', at, ...fields };
}

describe('an event of a pull request', () => {
  it('ends the change if the pull request was merged', () => {
    const state = inReview();
    applyPullRequestEvent(state, changed());
    expect(state).toMatchObject({ phase: 'merged', pullRequest: { state: 'merged', mergeCommitSha: 'abc' } });
    applyPullRequestEvent(state, changed({ deliveryId: 'd2', state: 'open' }));
    expect(state.phase).toBe('merged');
  });

  it('closes the pull request, reopens it and merges it, in the order of the times that the forge sends', () => {
    const state = inReview();
    const at = (minute: number, pullState: string) =>
      changed({ deliveryId: `d${minute}`, state: pullState, mergeCommitSha: null, at: `2026-11-21T12:0${minute}:00Z` });
    applyPullRequestEvent(state, at(1, 'closed'));
    expect(state.phase).toBe('closed');
    applyPullRequestEvent(state, at(3, 'open'));
    applyPullRequestEvent(state, at(2, 'closed'));
    expect(state).toMatchObject({ phase: 'in-review', pullRequest: { state: 'open' } });
    applyPullRequestEvent(state, at(4, 'closed'));
    applyPullRequestEvent(state, at(5, 'merged'));
    expect(state.phase).toBe('merged');
  });

  it('that was lost is made up for by what the forge returns', () => {
    const state: MutableState = { ...inReview(), phase: 'closed' };
    applyReading(state, { state: 'open', title: 'T', mergeCommitSha: null, reviews: [] });
    expect(state.phase).toBe('in-review');
  });

  it('is ignored if it belongs to another pull request', () => {
    const state = inReview();
    applyPullRequestEvent(state, changed({ url: `${LINK}1` }));
    applyPullRequestEvent(state, reviewed({ url: 'https://evil.example/acme/docs/pull/7' }));
    expect(state).toEqual(inReview());
  });

  it('counts once if it is delivered again', () => {
    const state = inReview();
    applyPullRequestEvent(state, reviewed());
    applyPullRequestEvent(state, reviewed({ verdict: 'commented' }));
    expect(state.reviews).toEqual([{ reviewer: 'Bob', verdict: 'approved', at }]);
  });

  it('is kept until the pull request is known', () => {
    const state: MutableState = { ...inReview(), phase: 'working', prLink: null };
    applyPullRequestEvent(state, reviewed());
    applyPullRequestEvent(state, changed({ url: 'https://github.com/acme/other/pull/1' }));
    expect(state.phase).toBe('working');
    state.phase = 'notifying';
    state.prLink = LINK;
    applyEarlyEvents(state);
    expect(state).toMatchObject({ phase: 'notifying', earlyNews: [], reviews: [{ reviewer: 'Bob' }] });
  });

  it('is combined with what the forge returns', () => {
    const state = inReview();
    applyPullRequestEvent(state, reviewed());
    const later = '2026-11-22T12:00:00Z';
    const reviews = [
      { reviewer: 'bob', verdict: 'approved', at: later } as const,
      { reviewer: 'eve', verdict: 'commented', at } as const,
    ];
    applyReading(state, { state: 'open', title: 'New title', mergeCommitSha: null, reviews });
    expect(state.pullRequest).toMatchObject({ title: 'New title', state: 'open', mergeCommitSha: null });
    expect(state.reviews.map(({ reviewer, at: when }) => `${reviewer} ${when}`)).toEqual([`bob ${later}`, `eve ${at}`]);
  });

  it('records whether a reviewer is a bot, and old comments are dropped before verdicts', () => {
    const state = inReview();
    applyPullRequestEvent(state, reviewed({ reviewer: 'copilot', bot: true }));
    for (let index = 0; index < 200; index++) {
      applyPullRequestEvent(state, reviewed({ deliveryId: `c${index}`, reviewer: `r${index}`, verdict: 'commented' }));
    }
    expect(state.reviews).toHaveLength(100);
    expect(state.reviews[0]).toEqual({ reviewer: 'copilot', verdict: 'approved', at, bot: true });
    expect(state.reviews.at(-1)?.reviewer).toBe('r199');
  });

  it('without a title gets the title from a later reading', () => {
    const state = inReview();
    applyPullRequestEvent(state, changed({ state: 'open', mergeCommitSha: null }));
    setTitle(state, 'Update the changelog');
    expect(state.pullRequest).toMatchObject({ title: 'Update the changelog', state: 'open', mergeCommitSha: null });
    setTitle(state, 'Pull request #7');
    expect(state.pullRequest?.title).toBe('Update the changelog');
  });

  it('adds a bounded amount to the state', () => {
    const state = inReview();
    const early: MutableState = { ...inReview(), prLink: null };
    for (let index = 0; index < 2_000; index++) {
      const fields = { deliveryId: `${index}${'x'.repeat(2_000)}`, reviewer: `${index}${'y'.repeat(10_000)}` };
      applyPullRequestEvent(state, reviewed(fields));
      applyPullRequestEvent(early, reviewed(fields));
    }
    expect(Buffer.byteLength(JSON.stringify([state, early]))).toBeLessThan(100_000);
  });
});

describe('the URL of a page', () => {
  it.each([
    [LINK, true],
    [`${LINK}/`, true],
    [`${LINK}#discussion_r1`, true],
    [`${LINK}?diff=split`, true],
    ['HTTPS://GitHub.com/acme/docs/pull/7', true],
    ['https://github.com/acme/Docs/pull/7', false],
    ['https://github.com/acme/docs/pull/70', false],
    ['http://github.com/acme/docs/pull/7', false],
    ['https://github.com/acme/docs/pull/7/files', false],
  ])('%s is the page of the pull request: %s', (other, same) => {
    expect(isSamePage(LINK, other)).toBe(same);
  });

  it('is compared in bounded time, whatever a forge sends', () => {
    expect(runToEnd(() => isSamePage(LINK, `${LINK}${'/'.repeat(500_000)}x`))).toBe(false);
  });
});

describe('reviews that request changes', () => {
  const request = (id: string) => ({ id, reviewer: 'ada', at });
  const reading = (...ids: string[]): PullRequestReading => ({
    state: 'open',
    title: '',
    mergeCommitSha: null,
    reviews: [],
    changeRequests: ids.map(request),
  });

  it('are remembered once each, and not again once they are done with', () => {
    const state = inReview();
    applyReading(state, reading('1', '2'));
    applyReading(state, reading('1', '2', '3'));
    expect(state.followUps.pending).toEqual(['1', '2', '3'].map(request));
    endFollowUp(state, request('2'));
    beginFollowUp(state, request('1'));
    applyReading(state, reading('1', '2', '3'));
    expect(state.followUps).toMatchObject({ pending: [request('3')], current: { review: request('1') } });
  });

  it('are bounded', () => {
    const state = inReview();
    for (let index = 0; index < 300; index++) applyReading(state, reading(String(index)));
    expect(state.followUps.pending).toHaveLength(100);
    for (let index = 0; index < 300; index++) endFollowUp(state, request(String(index)));
    expect(state.followUps.pending).toEqual([]);
    expect(state.followUps.handled).toHaveLength(200);
  });

  it.each([
    ['changes-requested', true],
    ['approved', false],
    ['commented', false],
  ])('have the forge read for their ids after the event %s: %s', (verdict, unread) => {
    const state = inReview();
    applyPullRequestEvent(state, reviewed({ verdict }));
    expect(state.followUps.unread).toBe(unread);
  });
});
