import {
  type ChangeMemory,
  freshChangeMemory,
  type PullRequestNews,
} from '../../../workflows/agent-change/change-memory.ts';
import {
  isSamePage,
  notePullRequest,
  takeEarlyNews,
  takeNews,
  takeReading,
} from '../../../workflows/agent-change/news.ts';

const LINK = 'https://github.com/acme/docs/pull/7';
const at = '2026-11-21T12:00:00Z';
const event = { source: 's', topic: 't', action: 'publish', id: '1', title: 'A', url: '', author: '', at } as const;

function inReview(): ChangeMemory {
  return { ...freshChangeMemory({ events: [event], eventCount: 1 }, 0), phase: 'in-review', prLink: LINK };
}

function changed(fields: object = {}): PullRequestNews {
  return { deliveryId: 'd1', url: LINK, state: 'merged', mergeCommitSha: 'abc', at, ...fields };
}

function reviewed(fields: object = {}): PullRequestNews {
  return { deliveryId: 'r1', url: LINK, reviewer: 'Bob', verdict: 'approved', at, ...fields };
}

describe('news of a pull request', () => {
  it('end the change where it was merged or closed', () => {
    const merged = inReview();
    takeNews(merged, changed());
    expect(merged).toMatchObject({ phase: 'merged', pullRequest: { state: 'merged', mergeCommitSha: 'abc' } });
    const closed = inReview();
    takeNews(closed, changed({ state: 'closed', mergeCommitSha: null }));
    expect(closed.phase).toBe('closed');
    takeNews(closed, changed({ deliveryId: 'd2' }));
    expect(closed.phase).toBe('closed');
  });

  it('of another pull request change nothing', () => {
    const memory = inReview();
    takeNews(memory, changed({ url: `${LINK}1` }));
    takeNews(memory, reviewed({ url: 'https://evil.example/acme/docs/pull/7' }));
    expect(memory).toEqual(inReview());
  });

  it('that are resent count once', () => {
    const memory = inReview();
    takeNews(memory, reviewed());
    takeNews(memory, reviewed({ verdict: 'commented' }));
    expect(memory.reviews).toEqual([{ reviewer: 'Bob', verdict: 'approved', at }]);
  });

  it('that come before the link is known are kept until it is', () => {
    const memory: ChangeMemory = { ...inReview(), phase: 'working', prLink: null };
    takeNews(memory, reviewed());
    takeNews(memory, changed({ url: 'https://github.com/acme/other/pull/1' }));
    expect(memory.phase).toBe('working');
    memory.phase = 'notifying';
    memory.prLink = LINK;
    takeEarlyNews(memory);
    expect(memory).toMatchObject({ phase: 'notifying', earlyNews: [], reviews: [{ reviewer: 'Bob' }] });
  });

  it('by the forge itself add to those by webhook', () => {
    const memory = inReview();
    takeNews(memory, reviewed());
    const later = '2026-11-22T12:00:00Z';
    const reviews = [
      { reviewer: 'bob', verdict: 'approved', at: later } as const,
      { reviewer: 'eve', verdict: 'commented', at } as const,
    ];
    takeReading(memory, { state: 'open', title: 'New title', mergeCommitSha: null, reviews });
    expect(memory.pullRequest).toEqual({ title: 'New title', state: 'open', mergeCommitSha: null });
    expect(memory.reviews.map(({ reviewer, at: when }) => `${reviewer} ${when}`)).toEqual([
      `bob ${later}`,
      `eve ${at}`,
    ]);
  });

  it('keep whether a reviewer is a bot, and forget remarks before verdicts', () => {
    const memory = inReview();
    takeNews(memory, reviewed({ reviewer: 'copilot', bot: true }));
    for (let index = 0; index < 200; index++) {
      takeNews(memory, reviewed({ deliveryId: `c${index}`, reviewer: `r${index}`, verdict: 'commented' }));
    }
    expect(memory.reviews).toHaveLength(100);
    expect(memory.reviews[0]).toEqual({ reviewer: 'copilot', verdict: 'approved', at, bot: true });
    expect(memory.reviews.at(-1)?.reviewer).toBe('r199');
  });

  it('that tell no title leave it to whoever knows it', () => {
    const memory = inReview();
    takeNews(memory, changed({ state: 'open', mergeCommitSha: null }));
    notePullRequest(memory, 'Update the changelog');
    expect(memory.pullRequest).toEqual({ title: 'Update the changelog', state: 'open', mergeCommitSha: null });
    notePullRequest(memory, 'Pull request #7');
    expect(memory.pullRequest?.title).toBe('Update the changelog');
  });

  it('stay small', () => {
    const memory = inReview();
    const early: ChangeMemory = { ...inReview(), prLink: null };
    for (let index = 0; index < 2_000; index++) {
      const fields = { deliveryId: `${index}${'x'.repeat(2_000)}`, reviewer: `${index}${'y'.repeat(10_000)}` };
      takeNews(memory, reviewed(fields));
      takeNews(early, reviewed(fields));
    }
    expect(Buffer.byteLength(JSON.stringify([memory, early]))).toBeLessThan(100_000);
  });
});

describe('two addresses', () => {
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
  ])('%s and the pull request are one page: %s', (other, same) => {
    expect(isSamePage(LINK, other)).toBe(same);
  });
});
