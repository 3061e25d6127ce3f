import { describeBriefly, describeInFull, siteStatus } from '../../cli/sites/describe-site.ts';
import { galleyHere } from '../helpers/galley.ts';
import { startHttpSite } from '../helpers/http-site.ts';

/** Runs `galley sites status` with these arguments against an api that responds like this. */
async function statusOf(respond: (url: URL) => unknown, ...args: string[]): Promise<string> {
  const api = await startHttpSite((request, response) => {
    response.end(JSON.stringify(respond(new URL(request.url ?? '/', 'http://x'))));
  });
  const { stdout } = await galleyHere(['sites', 'status', '--url', api.origin, ...args], { OPERATOR_TOKEN: 'token' });
  await api.close();
  // How long ago it was depends on when the test runs.
  return stdout.replaceAll(/\d+ \w+ ago/g, 'N days ago').replaceAll(/ +\n/g, '\n');
}

test('sites status lists every site, from all pages', async () => {
  const names = Array.from({ length: 5 }, (_, index) => `site-${index}`);
  const asked: (string | null)[] = [];
  const page = ({ searchParams }: URL) => {
    const cursor = searchParams.get('cursor');
    asked.push(cursor);
    const rest = names.filter((name) => name > (cursor ?? ''));
    const sites = rest.slice(0, 2).map((site) => ({ site, phase: 'live' }));
    return { sites, nextCursor: rest.length > 2 ? sites.at(-1)?.site : null };
  };
  expect(await statusOf(page)).toBe(['Site    Phase', ...names.map((name) => `${name}  live`), ''].join('\n'));
  expect(JSON.parse(await statusOf(page, '--json'))).toEqual({
    sites: names.map((site) => ({ site, phase: 'live' })),
    nextCursor: null,
  });
  expect(asked).toEqual([null, 'site-1', 'site-3', null, 'site-1', 'site-3']);
});

const deployment = {
  ...{ name: 'a.yaml', kind: 'valuesFile', wave: 1, state: 'live', jobId: 'se_1', version: 'v1' },
  desired: { jobId: 'se_1', version: 'v1', reason: 'newest' },
  ...{ writtenAt: '2026-11-21T08:13:42Z', servedAt: null, confirmed: null, linkExpiresAt: null, pin: null, off: false },
  ...{ error: null, url: null, proposal: null },
};

test('sites status shows the version that a rollback withholds and disabled deployments', async () => {
  const state = {
    site: 'docs',
    phase: 'live',
    version: 'v1',
    withheld: { version: 'v2', exportedAt: '2026-11-21T08:13:42Z' },
    deployments: [{ ...deployment, state: 'off', jobId: null, version: null, writtenAt: null, off: true }],
  };
  expect((await statusOf(() => state, 'docs')).split('\n')).toEqual([
    'docs: live',
    '  version       v1',
    '  withholds     the newer v2, exported N days ago',
    '  deployments',
    '    a.yaml: off',
    '',
  ]);
});

test('sites status shows the lock, the oldest unserved publish, and what each deployment has and should have', () => {
  const at = '2026-11-21T08:13:42Z';
  const desired = { jobId: 'se_2', version: 'v2', reason: 'waits-for-wave' };
  const state = siteStatus.parse({
    ...{ site: 'docs', phase: 'locked' },
    lock: { by: 'ada', at, reason: 'release\u001b[2J' },
    oldestUnserved: { at, reason: 'unknown' },
    deployments: [
      { ...deployment, name: 'staging', servedAt: at, confirmed: true, url: 'https://staging.example.com' },
      { ...deployment, name: 'production', wave: 2, state: 'waiting', desired },
      { ...deployment, name: 'pinned', wave: 2, state: 'held', pin: 'v9', desired: { ...desired, reason: 'pinned' } },
      {
        ...deployment,
        wave: 2,
        state: 'failed',
        error: { message: 'ENOSPC', status: null, at },
        proposal: 'https://a/1',
      },
    ],
  });
  expect(describeInFull(state, { urls: new Map([['a.yaml', 'http://127.0.0.1:3200']]), now: new Date(at) })).toEqual([
    'docs: locked',
    '  locked        by ada just now: release [2J',
    '  not served    a publish just now: a deployment does not say what it serves',
    '  deployments',
    '    staging (wave 1): served, v1, served just now, https://staging.example.com',
    '    production (wave 2): waiting (should have v2: waits for an earlier wave),\n    v1, written just now',
    '    pinned (wave 2): held (should have v2: pinned at v9), v1, written just now',
    '    a.yaml (wave 2): failing, v1, written just now, http://127.0.0.1:3200',
    '      pull request: https://a/1',
    '      error: ENOSPC',
  ]);
  expect(describeBriefly(state).replace(/\s+/g, ' ')).toEqual(
    expect.stringMatching(
      /^docs: locked, locked by ada .*: release \[2J, pinned is held \(should have v2: pinned at v9\), a.yaml is failing$/,
    ),
  );
});

const failure = { message: 'the origin responds 503 to /guide', status: 503, at: '2026-11-21T08:10:00Z' };
const failed = { site: 'docs', phase: 'failed', lastError: failure, nextTryAt: '2020-01-01T00:00:00Z' };

test.each([[['docs']], [['docs', '--json']], [[]]])(
  'sites status %j exits with 1 if a site has failed',
  async (args) => {
    const api = await startHttpSite((request, response) => {
      const isList = request.url?.startsWith('/sites?');
      response.end(JSON.stringify(isList ? { sites: [failed], nextCursor: null } : failed));
    });
    const found = await galleyHere(['sites', 'status', '--url', api.origin, ...args], { OPERATOR_TOKEN: 'token' });
    await api.close();
    expect(found).toMatchObject({ code: 1, stderr: 'galley: Failed: docs\n' });
    expect(found.stdout).toContain('the origin responds 503');
  },
);

test('sites status shows the next attempt of a failed export and whole percents, in 80 columns', () => {
  const now = new Date('2026-11-21T08:12:00Z');
  const state = siteStatus.parse({
    ...failed,
    nextTryAt: '2026-11-21T08:13:30Z',
    lastError: { ...failure, message: 'a long reason '.repeat(12) },
    progress: { percent: 41.7, pageCount: 12 },
  });
  const lines = describeInFull(state, { urls: new Map(), now });
  expect(lines).toContain('  progress      41 %, 12 pages');
  expect(lines).toContain('  next try      in 1 min');
  expect(
    lines
      .join('\n')
      .split('\n')
      .every((line) => line.length <= 80),
  ).toBe(true);
});

test('sites status shows a failure only if it belongs to the current export', () => {
  const running = { outcome: null, startedAt: '2026-11-21T08:11:00Z' };
  const record = {
    number: 2,
    jobId: null,
    version: null,
    trigger: 'publish',
    publishCount: 1,
    title: null,
    author: null,
  };
  const none = { exportedAt: null, writtenAt: null, servedAt: null, endedAt: null, rolledBackAt: null };
  const site = {
    ...failed,
    phase: 'exporting',
    exports: [{ ...record, requestedAt: running.startedAt, ...none, ...running, error: null, pageCount: null }],
  };
  expect(describeBriefly(siteStatus.parse(site))).toBe('docs: exporting');
  const again = { ...site, lastError: { ...failure, at: '2026-11-21T08:11:30Z' } };
  expect(describeBriefly(siteStatus.parse(again))).toBe('docs: exporting, error: the origin responds 503 to /guide');
});

test('sites status reports that nothing listens, instead of a missing token', async () => {
  const closed = await startHttpSite((_, response) => response.end());
  await closed.close();
  const { code, stderr } = await galleyHere(['sites', 'status', '--url', closed.origin]);
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: `galley: Nothing listens at ${closed.origin}. Start galley up or galley api, or name its URL with --url\n`,
  });
});

test('sites status of one site lists its newest deliveries and what was rejected', async () => {
  const [id, at] = ['d1', '2026-11-21T08:13:42Z'];
  const state = {
    site: 'docs',
    phase: 'idle',
    deliveries: [
      { id, at, source: 'github', outcome: 'filtered', workflowId: null, topic: 'pu\u001b[2Jsh', why: 'not to main' },
      { id, at, source: 'token', outcome: 'started', workflowId: 'export:docs' },
    ],
    rejected: [{ source: 'token', reason: 'bad-signature', count: 2, lastAt: at }],
  };
  expect((await statusOf(() => state, 'docs')).split('\n')).toEqual([
    'docs: not published',
    '  deliveries',
    `    N days ago github filtered pu [2Jsh (not to main)`,
    `    N days ago token accepted export:docs`,
    '    N days ago token rejected 2 times: It was signed with another secret, or',
    '    changed on its way.',
    '',
  ]);
});

test.each([
  [['rollback', 'docs', 'v7'], { version: 'v7' }],
  [['rollback', 'docs', 'se_0123456789abcdef'], { jobId: 'se_0123456789abcdef' }],
  [['rollback', 'docs', 'v7', '--lock', '--reason', 'broken'], { version: 'v7', lock: true, reason: 'broken' }],
  [['lock', 'docs', '--reason', 'a release'], { reason: 'a release' }],
  [['lock', 'docs'], {}],
  [['approve', 'docs', '--deployment', 'production'], { deployment: 'production' }],
  [['reject', 'docs'], {}],
  [['unlock', 'docs'], undefined],
  [['rename', 'docs', 'guide'], { to: 'guide' }],
])('sites %j sends what it says', async (args, body) => {
  const requests: unknown[] = [];
  const api = await startHttpSite(async (request, response) => {
    const chunks: Uint8Array[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const text = Buffer.concat(chunks).toString();
    requests.push([request.method, request.url, text === '' ? undefined : JSON.parse(text)]);
    response.end(JSON.stringify({ site: 'docs', phase: 'live', version: 'v7' }));
  });
  const { stdout } = await galleyHere(['sites', ...args, '--url', api.origin], { OPERATOR_TOKEN: 'token' });
  await api.close();
  expect(requests).toEqual([['POST', `/sites/docs/${args[0]}`, body]]);
  expect(stdout).toBe('docs: live, version v7\n');
});

test.each([
  ['refresh', 1],
  ['approve', 1],
  ['rollback', 1],
  ['pause', 0],
])('sites %s of a site whose deployment can not be written exits with %i', async (action, expected) => {
  const api = await startHttpSite((_, response) => {
    const lastError = { message: 'values.yaml: ENOSPC', status: null, at: '2026-11-21T08:11:30Z' };
    response.end(JSON.stringify({ site: 'docs', phase: 'failed', lastError }));
  });
  const version = action === 'rollback' ? ['2026-11-20.3'] : [];
  const { code, stdout } = await galleyHere(['sites', action, 'docs', ...version, '--url', api.origin], {
    OPERATOR_TOKEN: 'token',
  });
  await api.close();
  expect([code, stdout]).toEqual([expected, expect.stringContaining('docs: failed')]);
});

test.each(['localhost:3000', 'ftp://localhost', 'nonsense'])('sites status rejects --url %s', async (url) => {
  const { code, stderr } = await galleyHere(['sites', 'status', '--url', url]);
  expect([code, stderr]).toEqual([2, expect.stringContaining('--url: expected an http(s) URL')]);
});

test('sites remove reports its effects', async () => {
  const state = {
    site: 'docs',
    phase: 'exporting',
    jobId: 'se_2',
    pendingCount: 3,
    linkExpiresAt: '2126-11-22T08:14:02Z',
    deployments: [{ ...deployment, name: 'values.yaml' }],
    endedRules: ['changelog'],
  };
  const asked: string[] = [];
  const api = await startHttpSite((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    response.end(JSON.stringify(state));
  });
  const { stdout } = await galleyHere(['sites', 'remove', 'docs', '--url', api.origin], { OPERATOR_TOKEN: 'token' });
  await api.close();
  expect(asked).toEqual(['DELETE /sites/docs']);
  expect(stdout.split('\n')).toEqual([
    'docs was removed: Galley no longer exports or refreshes it.',
    'The export se_2 was canceled.',
    '3 waiting publish(es) were dropped.',
    'The agent rule changelog ended. Changes that it started continue.',
    'values.yaml keeps version v1.',
    expect.stringMatching(/^The link expires in \d+ days and is not refreshed.$/),
    'If galley.yaml still names the site, its next publish starts it again.',
    '',
  ]);
});

test('an action that is not possible fails with the reason', async () => {
  const api = await startHttpSite((_, response) => {
    response.writeHead(409).end(JSON.stringify({ error: 'the site is paused: resume it first' }));
  });
  const { code, stderr } = await galleyHere(['sites', 'export', 'docs', '--url', api.origin], {
    OPERATOR_TOKEN: 'token',
  });
  await api.close();
  expect(code).toBe(1);
  expect(stderr).toContain('the site is paused: resume it first');
});
