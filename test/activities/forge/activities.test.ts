import { createForgeActivities } from '../../../activities/forge/activities.ts';
import type { ReviewPlan } from '../../../activities/forge/plan-review.ts';
import type { ForgeReader } from '../../../forge/forge.ts';
import { ForgeError } from '../../../forge/forge-error.ts';
import { activityEnvironment, failureOf } from '../activity-environment.ts';

const environment = (scheduledTimestampMs = Date.now()) => activityEnvironment({ scheduledTimestampMs });

type Calls = { wanted: unknown[] };

/** A forge in memory: the port's implementations have a suite of their own. */
function forge(change: Partial<ForgeReader> = {}, calls: Calls = { wanted: [] }): ForgeReader {
  const mails = new Map([
    ['ada', 'ada@example.com'],
    ['bot', 'bot@example.com'],
  ]);
  return {
    readPullRequest: async (url) => ({
      url,
      number: 7,
      state: 'open',
      title: 'Update the changelog',
      author: 'Bot',
      headBranch: 'galley/aj_1',
      headSha: 'a'.repeat(40),
      baseBranch: 'main',
      mergeCommitSha: null,
      reviews: [{ reviewer: 'ada', verdict: 'approved', at: '2026-11-21T08:00:00Z' }],
    }),
    listChangedFiles: async () => ['CHANGELOG.md', 'src/a.ts'],
    readCodeOwners: async () => '* @global\n*.md @Ada @bot @acme/docs\n/src/ owner@example.com ADA@example.com\n',
    requestReviews: async (_, wanted) => {
      calls.wanted.push(wanted);
      return { requested: [...wanted.logins], refused: [] };
    },
    findLogin: async (mail) =>
      [...mails].find(([, address]) => address === mail.toLowerCase())?.[0] ??
      (mail === 'lin@example.com' ? 'lin' : null),
    findMail: async (login) => mails.get(login.toLowerCase()) ?? null,
    reviewLink: async () => null,
    ...change,
  };
}

const LINK = 'https://forge.example.com/acme/docs/pulls/7';

async function plan(
  reader: ForgeReader | undefined,
  reviewers: string[] = ['lin@example.com'],
  { scheduledMs = Date.now(), retryForMs = 60_000 } = {},
): Promise<ReviewPlan> {
  const { planReview } = createForgeActivities({ forge: reader, retryForMs });
  return await environment(scheduledMs).run(planReview, {
    site: 'handbook',
    rule: 'changelog',
    prLink: LINK,
    reviewers,
  });
}

const away = new ForgeError('the forge answered 502', { status: 502, retryable: true });
const busy = new ForgeError('slow down', { status: 429, retryable: true, retryAfterMs: 90_000 });
const forbidden = new ForgeError('the token may not read this', { status: 403, retryable: false });

const failing = (error: Error): Pick<ForgeReader, 'readPullRequest' | 'readCodeOwners' | 'findMail' | 'findLogin'> => {
  const fail = async (): Promise<never> => {
    throw error;
  };
  return { readPullRequest: fail, readCodeOwners: fail, findMail: fail, findLogin: fail };
};

describe('who is to review', () => {
  it('is the rule’s list and the owners of what changed, without the author, each once', async () => {
    const reviewers = ['lin@example.com', 'LIN@example.com', 'bot@example.com', 'ada@example.com'];
    expect(await plan(forge(), reviewers)).toEqual({
      title: 'Update the changelog',
      mails: ['lin@example.com', 'ada@example.com', 'owner@example.com'],
      logins: ['Ada', 'lin'],
      teams: ['docs'],
      unknownLogins: true,
      note: null,
    });
  });

  it('is the rule’s list alone without CODEOWNERS', async () => {
    const files: string[] = [];
    const reader = forge({
      readCodeOwners: async () => null,
      listChangedFiles: async () => {
        files.push('asked');
        return [];
      },
    });
    expect(await plan(reader)).toMatchObject({ logins: ['lin'], teams: [], unknownLogins: false });
    // Ada's own address is known by her login, which the search by address needn't find.
    const ada = forge({ findLogin: async () => null, readCodeOwners: async () => '*.md @ada' });
    expect(await plan(ada, [])).toMatchObject({ mails: ['ada@example.com'], logins: ['ada'], unknownLogins: false });
    expect(files).toEqual([]);
  });

  it('leaves out an author who is only known by the address', async () => {
    const reader = forge({ findMail: async () => null, readCodeOwners: async () => null });
    expect(await plan(reader, ['bot@example.com', 'lin@example.com'])).toMatchObject({
      mails: ['lin@example.com'],
      logins: ['lin'],
    });
  });

  it('takes nothing for an address that isn’t one', async () => {
    const reader = forge({
      readCodeOwners: async () => '* @ada odd,pair@example.com x@y "a"@example.com\n',
      findMail: async () => 'ada@example.com>\r\nRCPT TO:<eve@example.com',
    });
    expect((await plan(reader)).mails).toEqual(['lin@example.com']);
  });

  it('is the rule’s list under a title of our own without a forge', async () => {
    expect(await plan(undefined)).toEqual({
      title: 'Pull request #7 by changelog',
      mails: ['lin@example.com'],
      logins: [],
      teams: [],
      unknownLogins: true,
      note: null,
    });
  });
});

describe('a forge in trouble', () => {
  it('is asked again by Temporal while there is patience', async () => {
    const failure = await failureOf(plan(forge(failing(away))));
    expect(failure).toMatchObject({ type: 'ForgeUnavailable', details: [{ status: 502, retryAfterMs: null }] });
    expect(failure.nonRetryable).not.toBe(true);
    expect(failure.nextRetryDelay).toBeUndefined();
  });

  it('is asked again when it said so', async () => {
    expect(await failureOf(plan(forge(failing(busy))))).toMatchObject({ nextRetryDelay: 90_000 });
  });

  it('delays no mail for longer than the retry limit', async () => {
    const result = await plan(forge(failing(away)), ['lin@example.com'], { scheduledMs: Date.now() - 61_000 });
    expect(result).toEqual({
      title: 'Pull request #7 by changelog',
      mails: ['lin@example.com'],
      logins: [],
      teams: [],
      unknownLogins: true,
      note: 'without the forge’s pull request: the forge answered 502',
    });
  });

  it('that refuses is done without at once, and the plan says what is missing', async () => {
    const { readCodeOwners, findMail } = failing(forbidden);
    expect(await plan(forge({ readCodeOwners }))).toMatchObject({
      title: 'Update the changelog',
      mails: ['lin@example.com'],
      note: 'without the forge’s CODEOWNERS: the token may not read this',
    });
    expect(await plan(forge({ findMail }))).toMatchObject({
      mails: ['lin@example.com', 'owner@example.com', 'ADA@example.com'],
      logins: expect.arrayContaining(['Ada', 'lin']),
      teams: ['docs'],
    });
  });

  it.each([
    [away, { type: 'ForgeUnavailable' }],
    [busy, { type: 'ForgeUnavailable', nextRetryDelay: 90_000 }],
    [forbidden, { type: 'ForgeRefused', nonRetryable: true }],
  ])('fails the other activities as it should be retried (%s)', async (error, expected) => {
    const fail = async (): Promise<never> => {
      throw error;
    };
    const { requestReview, readPullRequest } = createForgeActivities({
      forge: forge({ requestReviews: fail, readPullRequest: fail }),
    });
    const wanted = { prLink: LINK, logins: ['ada'], teams: [] };
    expect(await failureOf(environment().run(requestReview, wanted))).toMatchObject(expected);
    expect(await failureOf(environment().run(readPullRequest, { prLink: LINK }))).toMatchObject(expected);
  });

  it('is never waited for longer than an hour, nor asked without a pause', async () => {
    for (const [retryAfterMs, nextRetryDelay] of [
      [0, 1_000],
      [86_400_000, 3_600_000],
    ] as const) {
      const error = new ForgeError('slow down', { status: 429, retryable: true, retryAfterMs });
      expect(await failureOf(plan(forge(failing(error))))).toMatchObject({ nextRetryDelay });
    }
  });
});

describe('asking for reviews', () => {
  it('requests all reviews at once, and none if there is no reviewer', async () => {
    const calls: Calls = { wanted: [] };
    const { requestReview } = createForgeActivities({ forge: forge({}, calls) });
    const run = (logins: string[], teams: string[]) =>
      environment().run(requestReview, { prLink: LINK, logins, teams });
    expect(await run(['ada'], ['docs'])).toEqual({ requested: ['ada'], refused: [] });
    expect(await run([], [])).toEqual({ requested: [], refused: [] });
    expect(calls.wanted).toEqual([{ logins: ['ada'], teams: ['docs'] }]);
  });

  it('does nothing without a forge', async () => {
    const { requestReview } = createForgeActivities({});
    const wanted = { prLink: LINK, logins: ['ada'], teams: [] };
    expect(await environment().run(requestReview, wanted)).toEqual({ requested: [], refused: [] });
  });
});

describe('reading a pull request', () => {
  it('returns its state, title, merge and reviews, and no more', async () => {
    const { readPullRequest } = createForgeActivities({ forge: forge() });
    expect(await environment().run(readPullRequest, { prLink: LINK })).toEqual({
      state: 'open',
      title: 'Update the changelog',
      mergeCommitSha: null,
      reviews: [{ reviewer: 'ada', verdict: 'approved', at: '2026-11-21T08:00:00Z' }],
    });
  });

  it('needs a forge', async () => {
    const { readPullRequest } = createForgeActivities({});
    expect(await failureOf(environment().run(readPullRequest, { prLink: LINK }))).toMatchObject({
      type: 'NoForge',
      nonRetryable: true,
    });
  });
});
