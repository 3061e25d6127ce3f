import { createAdminApiActivities } from '../../../activities/admin-api/activities.ts';
import { type JudgedExport, reasonsToHold } from '../../../activities/admin-api/judge-export.ts';
import { createAdminApiClient } from '../../../client/admin-api-client.ts';
import type { ExportReport } from '../../../contract/admin-api.ts';
import type { Guards } from '../../../contract/settings.ts';
import { useScriptedServers } from '../../helpers/admin-api/scripted-server.ts';
import { activityEnvironment } from '../activity-environment.ts';

const startServer = useScriptedServers();

const GUARDS: Guards = { maxShrink: 0.2, maxNewlyBroken: 2, startPage: true };
const START = 'https://docs.example.com/';

function report(broken: readonly string[], changes: Partial<ExportReport> = {}): ExportReport {
  return {
    jobId: 'se_0000000000000000',
    brokenLinks: broken.map((url) => ({ url, reason: 'answered 404', status: 404, referrers: [] })),
    brokenAnchors: [],
    redirects: [],
    skippedPages: [],
    leftOut: [],
    unread: [],
    originUrls: [],
    notices: [],
    truncated: false,
    counts: { brokenLinks: broken.length, brokenAnchors: 0, redirects: 0, skippedPages: 0, originUrls: 0 },
    ...changes,
  };
}

const redirected = (...urls: string[]): ExportReport =>
  report([], {
    redirects: urls.slice(1).map((to, index) => ({ from: urls[index] ?? '', to, status: 302 })),
  });

const judge = (before: Partial<JudgedExport>, now: Partial<JudgedExport>, guards = GUARDS): string[] => {
  const unknown = { pageCount: null, report: null };
  return reasonsToHold(guards, 'docs.example.com', { ...unknown, ...before }, { ...unknown, ...now });
};

describe('an export is held', () => {
  it('if it has fewer pages than the share allows', () => {
    expect(judge({ pageCount: 100 }, { pageCount: 80 })).toEqual([]);
    expect(judge({ pageCount: 100 }, { pageCount: 79 })).toEqual([
      '79 pages instead of 100: 21 % fewer (maxShrink is 20 %)',
    ]);
    expect(judge({ pageCount: 0 }, { pageCount: 0 })).toEqual([]);
    expect(judge({ pageCount: 100 }, { pageCount: 1_000 })).toEqual([]);
  });

  it('if it has more newly broken links, however many were broken before', () => {
    const before = { report: report(['/a', '/b', '/c', '/d']) };
    expect(judge(before, { report: report(['/a', '/b', '/x', '/y']) })).toEqual([]);
    expect(judge(before, { report: report(['/x', '/y', '/z']) })).toEqual([
      '3 newly broken links, for example /x (maxNewlyBroken is 2)',
    ]);
    // The list is truncated, but the count is complete.
    const cut = report(['/a'], {
      counts: { brokenLinks: 90, brokenAnchors: 0, redirects: 0, skippedPages: 0, originUrls: 0 },
      truncated: true,
    });
    expect(judge(before, { report: cut })).toEqual(['86 newly broken links (maxNewlyBroken is 2)']);
  });

  it.each(['/login', '/account/sign-in?next=%2F', '/wp-login.php', '/oauth2/authorize', '/users/sessions/new'])(
    'if the start page redirects to %s and did not before',
    (path) => {
      const leadsTo = redirected(START, 'https://docs.example.com/en/', `https://docs.example.com${path}`);
      expect(judge({ report: report([]) }, { report: leadsTo })).toEqual([
        `the start page is a sign-in page now: it leads to https://docs.example.com${path}`,
      ]);
      expect(judge({ report: leadsTo }, { report: leadsTo })).toEqual([]);
      expect(judge({ report: report([]) }, { report: leadsTo }, { ...GUARDS, startPage: false })).toEqual([]);
    },
  );

  it.each(['/en/', '/blog/login-for-beginners', '/authors/'])('but not if the start page redirects to %s', (path) => {
    expect(judge({ report: report([]) }, { report: redirected(START, `https://docs.example.com${path}`) })).toEqual([]);
  });

  it('if a browser shows a page differently, unless the guard is off', () => {
    const counts = { pagesInBundle: 9, pages: 3, templates: 1, equal: 1, different: 1, unknown: 1 };
    const proof = { status: 'failed' as const, reason: null, counts, html: null, json: null };
    const pages = [
      { url: 'https://docs.example.com/a', status: 'different' as const, text: 'text: "cut"' },
      { url: 'https://docs.example.com/b', status: 'unknown' as const, text: 'the origin does not show it' },
    ];
    const now = { report: report([], { proof: { ...proof, pages } }) };
    const reason =
      '1 of 3 pages differ from the origin in a browser, for example https://docs.example.com/a (text: "cut")';
    expect(judge({}, now)).toEqual([reason]);
    expect(judge(now, now, { ...GUARDS, proof: true })).toEqual([reason]);
    expect(judge({}, now, { ...GUARDS, proof: false })).toEqual([]);
    expect(judge({}, { report: report([], { proof: { ...proof, pages, status: 'unknown' } }) })).toEqual([]);
  });

  it('if the start page is an error now', () => {
    expect(judge({ report: report([]) }, { report: report([START]) })).toEqual(['the start page is an error: 404']);
    expect(judge({ report: report([START]) }, { report: report([START]) })).toEqual([]);
  });

  it('only by the number of pages if the service has no reports', async () => {
    const server = await startServer([
      { status: 200, body: { status: 'completed', pageCount: 10 } },
      { status: 200, body: { status: 'completed', pageCount: 100 } },
      { status: 404, body: { error: 'no such path' } },
      { status: 404, body: { error: 'no such path' } },
      { status: 404, body: { error: 'no such path' } },
    ]);
    const client = createAdminApiClient({ url: server.url, key: 'galley_secret', retry: false });
    const { judgeExport } = createAdminApiActivities(client);
    const input = { jobId: 'se_2', servedJobId: 'se_1', domain: 'docs.example.com', guards: GUARDS };
    expect(await activityEnvironment().run(judgeExport, input)).toEqual({
      reasons: ['10 pages instead of 100: 90 % fewer (maxShrink is 20 %)'],
      notChecked: ['maxNewlyBroken', 'startPage'],
      previewUrl: null,
    });
    expect(server.received.map(({ path }) => path.split('/').slice(-2).join('/'))).toEqual([
      'jobs/se_2',
      'jobs/se_1',
      'se_2/report',
      'se_1/report',
      'se_2/preview',
    ]);
  });

  it.each([
    [
      { status: 201, body: { previewUrl: 'https://a.test/previews/x/', expiresAt: '2026-11-29T00:00:00Z' } },
      'https://a.test/previews/x/',
    ],
    [{ status: 503, body: { error: 'later' } }, null],
    [{ status: 201, body: { previewUrl: 5 } }, null],
  ])('with a preview if the service gives one: %j', async (answer, previewUrl) => {
    const server = await startServer([
      { status: 200, body: { status: 'completed', pageCount: 10 } },
      { status: 200, body: { status: 'completed', pageCount: 100 } },
      { status: 200, body: report([]) },
      { status: 200, body: report([]) },
      answer,
    ]);
    const client = createAdminApiClient({ url: server.url, key: 'galley_secret', retry: false });
    const input = { jobId: 'se_2', servedJobId: 'se_1', domain: 'docs.example.com', guards: GUARDS };
    expect(await activityEnvironment().run(createAdminApiActivities(client).judgeExport, input)).toMatchObject({
      reasons: [expect.stringContaining('maxShrink')],
      previewUrl,
    });
  });
});

it('gives a preview of an export that no guard holds to who approves each version', async () => {
  const server = await startServer([
    { status: 200, body: { status: 'completed', pageCount: 10 } },
    { status: 200, body: { status: 'completed', pageCount: 10 } },
    { status: 200, body: report([]) },
    { status: 200, body: report([]) },
    { status: 201, body: { previewUrl: 'https://a.test/previews/x/', expiresAt: '2026-11-29T00:00:00Z' } },
  ]);
  const client = createAdminApiClient({ url: server.url, key: 'galley_secret', retry: false });
  const input = { jobId: 'se_2', servedJobId: 'se_1', domain: 'docs.example.com', guards: GUARDS, wantsPreview: true };
  expect(await activityEnvironment().run(createAdminApiActivities(client).judgeExport, input)).toMatchObject({
    reasons: [],
    previewUrl: 'https://a.test/previews/x/',
  });
});

it('names the guard of the proof as not checked if the proof is unknown', async () => {
  const counts = { pagesInBundle: 0, pages: 0, templates: 0, equal: 0, different: 0, unknown: 0 };
  const proof = { status: 'unknown' as const, reason: 'no browser', counts, pages: [], html: null, json: null };
  const judged = async (guards: Guards) => {
    const server = await startServer([
      { status: 200, body: { status: 'completed', pageCount: 10 } },
      { status: 200, body: { status: 'completed', pageCount: 10 } },
      { status: 200, body: report([], { proof }) },
      { status: 200, body: report([]) },
    ]);
    const client = createAdminApiClient({ url: server.url, key: 'galley_secret', retry: false });
    const input = { jobId: 'se_2', servedJobId: 'se_1', domain: 'docs.example.com', guards };
    return await activityEnvironment().run(createAdminApiActivities(client).judgeExport, input);
  };
  expect(await judged(GUARDS)).toEqual({ reasons: [], notChecked: ['proof'] });
  expect(await judged({ ...GUARDS, proof: false })).toEqual({ reasons: [], notChecked: [] });
});
