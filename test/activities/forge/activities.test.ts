import { createForgeActivities } from '../../../activities/forge/activities.ts';
import type { PlannedReview } from '../../../activities/forge/plan-review.ts';
import type { ForgeReader } from '../../../forge/forge.ts';
import { ForgeError } from '../../../forge/forge-error.ts';
import { activityEnvironment, failureOf } from '../activity-environment.ts';

const environment = (scheduledTimestampMs = Date.now()) => activityEnvironment({ scheduledTimestampMs });

type Calls = { requests: unknown[] };

/** An in-memory forge. The real implementations have a contract suite. */
function forge(change: Partial<ForgeReader> = {}, calls: Calls = { requests: [] }): ForgeReader {
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
      changeRequests: [],
    }),
    readReview: async () => ({ body: 'Too long.', comments: [] }),
    listChangedFiles: async () => ['CHANGELOG.md', 'src/a.ts'],
    readCodeOwners: async () => '* @global\n*.md @Ada @bot @acme/docs\n/src/ owner@example.com ADA@example.com\n',
    requestReviews: async (_, requests) => {
      calls.requests.push(requests);
      return { requested: [...requests.logins], refused: [] };
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
): Promise<PlannedReview> {
  const { planReview } = createForgeActivities({ forge: reader, retryForMs });
  return await environment(scheduledMs).run(planReview, {
    site: 'handbook',
    rule: 'changelog',
    prLink: LINK,
    reviewers,
  });
}

const unavailable = new ForgeError('the forge answered 502', { status: 502, retryable: true });
const busy = new ForgeError('slow down', { status: 429, retryable: true, retryAfterMs: 90_000 });
const forbidden = new ForgeError('the token may not read this', { status: 403, retryable: false });

const failing = (error: Error): Pick<ForgeReader, 'readPullRequest' | 'readCodeOwners' | 'findMail' | 'findLogin'> => {
  const fail = async (): Promise<never> => {
    throw error;
  };
  return { readPullRequest: fail, readCodeOwners: fail, findMail: fail, findLogin: fail };
};

describe('the reviewers', () => {
  it("are the rule's list and the owners of the changed files, without the author and duplicates", async () => {
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

  it("are only the rule's list without CODEOWNERS", async () => {
    const files: string[] = [];
    const reader = forge({
      readCodeOwners: async () => null,
      listChangedFiles: async () => {
        files.push('asked');
        return [];
      },
    });
    expect(await plan(reader)).toMatchObject({ logins: ['lin'], teams: [], unknownLogins: false });
    // The login gives Ada's address, so the search by address isn't needed.
    const ada = forge({ findLogin: async () => null, readCodeOwners: async () => '*.md @ada' });
    expect(await plan(ada, [])).toMatchObject({ mails: ['ada@example.com'], logins: ['ada'], unknownLogins: false });
    expect(files).toEqual([]);
  });

  it('exclude an author who is only known by the email address', async () => {
    const reader = forge({ findMail: async () => null, readCodeOwners: async () => null });
    expect(await plan(reader, ['bot@example.com', 'lin@example.com'])).toMatchObject({
      mails: ['lin@example.com'],
      logins: ['lin'],
    });
  });

  it('exclude invalid email addresses', async () => {
    const reader = forge({
      readCodeOwners: async () => '* @ada odd,pair@example.com x@y "a"@example.com\n',
      findMail: async () => 'ada@example.com>\r\nRCPT TO:<eve@example.com',
    });
    expect((await plan(reader)).mails).toEqual(['lin@example.com']);
  });

  it("are the rule's list, with a generated title, without a forge", async () => {
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

describe('a failing forge', () => {
  it('is retried by Temporal until the retry limit', async () => {
    const failure = await failureOf(plan(forge(failing(unavailable))));
    expect(failure).toMatchObject({ type: 'ForgeUnavailable', details: [{ status: 502, retryAfterMs: null }] });
    expect(failure.nonRetryable).not.toBe(true);
    expect(failure.nextRetryDelay).toBeUndefined();
  });

  it('is retried after its Retry-After', async () => {
    expect(await failureOf(plan(forge(failing(busy))))).toMatchObject({ nextRetryDelay: 90_000 });
  });

  it('delays no mail for longer than the retry limit', async () => {
    const result = await plan(forge(failing(unavailable)), ['lin@example.com'], { scheduledMs: Date.now() - 61_000 });
    expect(result).toEqual({
      title: 'Pull request #7 by changelog',
      mails: ['lin@example.com'],
      logins: [],
      teams: [],
      unknownLogins: true,
      note: 'without the forge’s pull request: the forge answered 502',
    });
  });

  it('is skipped at once if it rejects the request, and the plan notes what is missing', async () => {
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
    [unavailable, { type: 'ForgeUnavailable' }],
    [busy, { type: 'ForgeUnavailable', nextRetryDelay: 90_000 }],
    [forbidden, { type: 'ForgeRefused', nonRetryable: true }],
  ])('fails the other activities with the fitting retry policy (%s)', async (error, expected) => {
    const fail = async (): Promise<never> => {
      throw error;
    };
    const { requestReview, readPullRequest } = createForgeActivities({
      forge: forge({ requestReviews: fail, readPullRequest: fail }),
    });
    const requests = { prLink: LINK, logins: ['ada'], teams: [] };
    expect(await failureOf(environment().run(requestReview, requests))).toMatchObject(expected);
    expect(await failureOf(environment().run(readPullRequest, { prLink: LINK }))).toMatchObject(expected);
  });

  it('is retried after at most an hour, and never without a delay', async () => {
    for (const [retryAfterMs, nextRetryDelay] of [
      [0, 1_000],
      [86_400_000, 3_600_000],
    ] as const) {
      const error = new ForgeError('slow down', { status: 429, retryable: true, retryAfterMs });
      expect(await failureOf(plan(forge(failing(error))))).toMatchObject({ nextRetryDelay });
    }
  });
});

describe('requesting reviews', () => {
  it('sends one request for all reviewers, and none without reviewers', async () => {
    const calls: Calls = { requests: [] };
    const { requestReview } = createForgeActivities({ forge: forge({}, calls) });
    const run = (logins: string[], teams: string[]) =>
      environment().run(requestReview, { prLink: LINK, logins, teams });
    expect(await run(['ada'], ['docs'])).toEqual({ requested: ['ada'], refused: [] });
    expect(await run([], [])).toEqual({ requested: [], refused: [] });
    expect(calls.requests).toEqual([{ logins: ['ada'], teams: ['docs'] }]);
  });

  it('does nothing without a forge', async () => {
    const { requestReview } = createForgeActivities({});
    const requests = { prLink: LINK, logins: ['ada'], teams: [] };
    expect(await environment().run(requestReview, requests)).toEqual({ requested: [], refused: [] });
  });
});

describe('reading a pull request', () => {
  it('returns its state, title, merge and reviews, and no more', async () => {
    const { readPullRequest } = createForgeActivities({ forge: forge() });
    expect(await environment().run(readPullRequest, { prLink: LINK })).toEqual({
      state: 'open',
      title: 'Update the changelog',
      mergeCommitSha: null,
      changeRequests: [],
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
