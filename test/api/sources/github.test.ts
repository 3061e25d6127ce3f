import { parserOf } from './source-parser.ts';

const parseDelivery = parserOf('github');
const parse = (event: string, body: unknown) => parseDelivery(body, { 'x-github-event': event });

const URL = 'https://github.com/acme/docs/pull/7';
const JOB = 'aj_0123456789abcdef';

function pullRequest(change: object = {}) {
  return {
    html_url: URL,
    state: 'open',
    merged: false,
    merge_commit_sha: 'trial',
    updated_at: '2026-11-21T07:00:00Z',
    user: { login: 'galley[bot]' },
    ...change,
  };
}

describe('a pull request event', () => {
  test('of a merge names the merge commit', () => {
    const body = {
      action: 'closed',
      pull_request: pullRequest({ state: 'closed', merged: true, merge_commit_sha: 'c1' }),
    };
    expect(parse('pull_request', body)).toEqual({
      kind: 'pull-request',
      change: { url: URL, state: 'merged', mergeCommitSha: 'c1', at: '2026-11-21T07:00:00.000Z' },
    });
  });

  test('of a close without a merge has no commit, although GitHub names the test merge commit', () => {
    expect(parse('pull_request', { action: 'closed', pull_request: pullRequest({ state: 'closed' }) })).toMatchObject({
      change: { state: 'closed', mergeCommitSha: null },
    });
  });

  test('of a reopening says that it is open', () => {
    expect(parse('pull_request', { action: 'reopened', pull_request: pullRequest() })).toMatchObject({
      change: { state: 'open' },
    });
  });

  test.each(['opened', 'edited', 'synchronize', 'labeled', 'review_requested'])(
    'of the action %s, which does not matter for a change, is only listed',
    (action) => {
      expect(parse('pull_request', { action, pull_request: pullRequest() })).toEqual({
        kind: 'filtered',
        topic: 'pull_request',
        why: 'the event publishes nothing',
      });
    },
  );

  test.each([
    ['nothing', {}],
    ['a text', 'merged'],
    ['no URL', { action: 'closed', pull_request: { state: 'closed' } }],
    ['a URL that is not a page', { action: 'closed', pull_request: pullRequest({ html_url: 'javascript:1' }) }],
  ])('with %s is only listed', (_what, body) => {
    expect(parse('pull_request', body)).toMatchObject({ kind: 'filtered' });
  });
});

test('a ping is filtered', () => {
  expect(parse('ping', { zen: 'Keep it simple.' })).toMatchObject({ kind: 'filtered', topic: 'ping' });
});

describe('a review', () => {
  const review = (state: string, login = 'ada') => ({
    action: 'submitted',
    pull_request: pullRequest(),
    review: { state, user: { login }, submitted_at: '2026-11-21T07:30:00Z' },
  });

  test.each([
    ['approved', 'approved'],
    ['APPROVED', 'approved'],
    ['changes_requested', 'changes-requested'],
    ['commented', 'commented'],
  ])('that GitHub calls %s is read as %s', (state, verdict) => {
    expect(parse('pull_request_review', review(state))).toEqual({
      kind: 'review',
      review: { url: URL, reviewer: 'ada', verdict, at: '2026-11-21T07:30:00.000Z' },
    });
  });

  test('of an account that GitHub calls a bot is marked as such', () => {
    const body = review('approved');
    const user = { login: 'copilot', type: 'Bot' };
    expect(parse('pull_request_review', { ...body, review: { ...body.review, user } })).toMatchObject({
      review: { reviewer: 'copilot', bot: true },
    });
  });

  test.each([
    ['pull_request_approved', 'pull_request_review_approved', 'approved'],
    ['pull_request_rejected', 'pull_request_review_rejected', 'changes-requested'],
    ['pull_request_comment', 'pull_request_review_comment', 'commented'],
  ])('that Gitea sends as %s is read with the sender as the reviewer', (event, type, verdict) => {
    const body = { action: 'reviewed', pull_request: pullRequest(), review: { type }, sender: { login: 'ada' } };
    expect(parse(event, body)).toMatchObject({ kind: 'review', review: { reviewer: 'ada', verdict } });
  });

  test.each([
    ['dismissed', { ...review('dismissed'), action: 'dismissed' }],
    ['edited', { ...review('approved'), action: 'edited' }],
    ['of the author’s own', review('commented', 'galley[bot]')],
    ['pending', review('pending')],
  ])('%s is only listed', (_what, body) => {
    expect(parse('pull_request_review', body)).toMatchObject({ kind: 'filtered' });
  });
});

describe('a push', () => {
  const headCommit = {
    id: 'f00',
    message: 'Fix the start page\n\nIt was wrong.',
    url: 'https://github.com/o/r/commit/f00',
    timestamp: '2026-11-21T09:00:00+01:00',
  };

  test('from GitHub uses its newest commit', () => {
    const body = { ref: 'refs/heads/main', after: 'f00', head_commit: headCommit, pusher: { name: 'ada' } };
    expect(parse('push', body)).toEqual({
      kind: 'publish',
      event: {
        source: 'github',
        topic: 'push',
        action: 'publish',
        id: 'f00',
        title: 'Fix the start page',
        url: headCommit.url,
        author: 'ada',
        at: '2026-11-21T08:00:00.000Z',
      },
    });
  });

  test("from Gitea is read with Gitea's field names", () => {
    const body = { ref: 'refs/heads/main', after: 'f00', compare_url: 'https://git/compare', pusher: { login: 'bob' } };
    expect(parse('push', body)).toMatchObject({
      event: { id: 'f00', title: 'f00', url: 'https://git/compare', author: 'bob' },
    });
  });

  test('with nothing but its ref publishes', () => {
    expect(parse('push', { ref: 'refs/heads/main', head_commit: null, pusher: 'x', deleted: 'no' })).toMatchObject({
      kind: 'publish',
      event: { id: 'delivery-1' },
    });
  });

  test.each([
    ['to another branch', { ref: 'refs/heads/other' }],
    ['of a tag with the name of the branch', { ref: 'refs/tags/main' }],
    ['that deletes the branch', { ref: 'refs/heads/main', deleted: true }],
  ])('%s is filtered', (_what, body) => {
    expect(parse('push', body)).toMatchObject({ kind: 'filtered', topic: 'push', why: expect.any(String) });
  });

  const agents = (title = 'Update the changelog') => ({
    message: `${title}\n\nAsked by a publish.\n\nGalley-Job: ${JOB}`,
  });
  const people = { message: 'Fix a typo' };
  const push = (head: { message: string }, commits: { message: string }[] = [head]) =>
    parse('push', { ref: 'refs/heads/main', after: 'abc', head_commit: head, commits });

  test.each([
    ['rebases the agent’s commit', push(agents())],
    [
      'squashes it',
      push({ message: `Update (#7)\n\n* Update\n\nGalley-Job: ${JOB}\n\n* More\n\n  Galley-Job: ${JOB}` }),
    ],
    [
      'merges its branch on GitHub',
      push({ message: `Merge pull request #7 from acme/galley/${JOB}\n\nx` }, [agents()]),
    ],
    ['merges its branch on Gitea', push({ message: `Merge pull request 'x' (#7) from galley/${JOB} into main` })],
    ['merges its branch by hand', push({ message: `Merge branch 'galley/${JOB}'` }, [agents(), people])],
  ])('that %s is the agent’s own', (_what, reading) => {
    expect(reading).toMatchObject({ kind: 'publish', event: { agentsOwn: true } });
  });

  test.each([
    ['of people', push(people)],
    ['of people after the agent’s', push(people, [agents(), people])],
    ['of the agent’s after people’s', push(agents(), [people, agents()])],
    ['that merges a branch of another name', push({ message: 'Merge pull request #7 from acme/galley/docs' })],
    ['whose message is hundreds of thousands of empty lines', push({ message: `x${'\n'.repeat(500_000)}x` })],
    ['that only speaks of a job', push({ message: `Revert what Galley-Job: ${JOB} did` })],
    [
      'that may have left out people’s commits',
      push(
        agents(),
        Array.from({ length: 20 }, () => agents()),
      ),
    ],
    ['without any commit', parse('push', { ref: 'refs/heads/main', after: 'abc', head_commit: null, commits: [] })],
  ])('%s is a publish like any other', (_what, reading) => {
    expect(reading).toMatchObject({ kind: 'publish' });
    expect(reading).not.toHaveProperty('event.agentsOwn');
  });
});
