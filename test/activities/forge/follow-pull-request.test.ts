import { createFollowPullRequest, type KnownPullRequest } from '../../../activities/forge/activities.ts';
import { activityEnvironment } from '../activity-environment.ts';

const prLink = 'https://forge.test/1';
const review = { reviewer: 'Bob', verdict: 'approved', at: '2026-11-21T08:00:00Z' } as const;
const known: KnownPullRequest = { state: 'open', title: 'T', reviews: ['bob approved'] };

const changeRequests = [{ id: '7', reviewer: 'Bob', at: '2026-11-21T07:00:00Z' }];

const followPullRequest = createFollowPullRequest(async () => ({
  state: 'open',
  title: 'T',
  mergeCommitSha: null,
  reviews: [review],
  changeRequests,
}));

describe('following a pull request', () => {
  it.each<[string, KnownPullRequest | null]>([
    ['nothing is known', null],
    ['a review is new', { ...known, reviews: [] }],
    ['the same person said something else', { ...known, reviews: ['bob commented'] }],
    ['the title differs', { ...known, title: 'U' }],
    ['the state differs', { ...known, state: 'closed' }],
    ['another review requests changes', { ...known, changeRequests: [] }],
  ])('returns its state if %s', async (_, before) => {
    const reading = activityEnvironment().run(followPullRequest, { prLink, known: before });
    await expect(reading).resolves.toEqual({
      state: 'open',
      title: 'T',
      mergeCommitSha: null,
      reviews: [review],
      changeRequests,
    });
  });

  it('does not return it again and again to a workflow of a release that does not know such reviews', async () => {
    const reading = activityEnvironment().run(followPullRequest, { prLink, known });
    await expect(reading).rejects.toMatchObject({ type: 'Unchanged' });
  });

  it.each([
    [1, 900_000],
    [3, 1_521_000],
    [50, 3_600_000],
  ])('retries after attempt %i in %i ms while nothing has changed', async (attempt, nextRetryDelay) => {
    const reading = activityEnvironment({ attempt }).run(followPullRequest, { prLink, known });
    await expect(reading).rejects.toMatchObject({ type: 'Unchanged', category: 'BENIGN', nextRetryDelay });
  });
});
