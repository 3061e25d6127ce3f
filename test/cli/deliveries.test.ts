import { userInfo } from 'node:os';
import { galleyHere } from '../helpers/galley.ts';
import { startHttpSite } from '../helpers/http-site.ts';

const at = '2026-11-21T08:13:42Z';

const record = {
  number: 7,
  jobId: 'se_1',
  version: 'v7',
  trigger: 'publish',
  publishCount: 2,
  title: 'Moving',
  author: 'ada@example.com',
  requestedAt: at,
  startedAt: '2026-11-21T08:13:47Z',
  exportedAt: '2026-11-21T08:14:01Z',
  writtenAt: '2026-11-21T08:14:02Z',
  servedAt: '2026-11-21T08:14:04Z',
  rolledBackAt: '2026-11-21T09:00:00Z',
  endedAt: '2026-11-21T08:14:03Z',
  outcome: 'served',
  error: null,
  pageCount: 12,
};

const site = {
  site: 'docs',
  deliveries: [
    { id: 'd5', source: 'github', at, outcome: 'verified', workflowId: 'agent:docs:changelog:d1', topic: 'review' },
    { id: 'd4', source: 'github', at, outcome: 'filtered', workflowId: null, topic: 'push', why: 'not to main' },
    { id: 'd3', source: 'cms', at, outcome: 'started', workflowId: 'export:docs', exportNumber: null },
    { id: 'd2', source: 'cms', at, outcome: 'started', workflowId: 'export:docs', exportNumber: 3 },
    {
      ...{ id: 'd1/x', source: 'cms', at, outcome: 'started', workflowId: 'export:docs', exportNumber: 7 },
      ...{ topic: 'Entry.publish', title: 'Mov\u001b[2Jing', author: 'ada@example.com', action: 'publish' },
    },
  ],
  exports: [record],
  rejected: [{ source: 'cms', reason: 'bad-signature', count: 2, lastAt: at }],
};

const NOTE = 'Filtered and rejected deliveries are those of the api that responded.';

/** Runs `galley deliveries` against an api that responds like this. */
async function run(response: { status?: number; body: unknown }, ...args: string[]) {
  const requests: unknown[] = [];
  const api = await startHttpSite(async (request, reply) => {
    const chunks: Uint8Array[] = [];
    for await (const chunk of request) chunks.push(chunk);
    requests.push([request.method, request.url, request.headers['x-galley-actor'], Buffer.concat(chunks).toString()]);
    reply.writeHead(response.status ?? 200).end(JSON.stringify(response.body));
  });
  const ended = await galleyHere(['deliveries', ...args, '--url', api.origin], { OPERATOR_TOKEN: 'token' });
  await api.close();
  // How long ago it was depends on when the test runs.
  const lines = ended.stdout
    .replaceAll(/\d+ \w+ ago/g, 'N days ago')
    .replaceAll(/ +\n/g, '\n')
    .split('\n');
  return { ...ended, requests, lines };
}

test('deliveries list shows the outcome of each, and marks entries of only one process', async () => {
  const { lines } = await run({ body: site }, 'list', 'docs');
  expect(lines).toEqual([
    'Received    Source  Delivery  Result',
    'N days ago  github  d5        Verified',
    '  review, agent change agent:docs:changelog:d1',
    'N days ago  github  d4        Filtered',
    '  push, not to main',
    'N days ago  cms     d3        Accepted',
    '  waits for an export',
    'N days ago  cms     d2        Accepted',
    '  export 3',
    'N days ago  cms     d1/x      Accepted',
    '  Entry.publish, Mov [2Jing, export 7: served, rolled back',
    '',
    'Rejected:',
    'Last        Source  Reason                                                 Count',
    'N days ago  cms     It was signed with another secret, or changed on its   2',
    '                    way.',
    '',
    NOTE,
    '',
  ]);
  const { stdout } = await run({ body: site }, 'list', 'docs', '--json');
  expect(JSON.parse(stdout)).toEqual({ deliveries: site.deliveries, rejected: site.rejected });
  expect((await run({ body: { site: 'docs', deliveries: [], exports: [] } }, 'list', 'docs')).lines).toEqual([
    'no deliveries',
    '',
    NOTE,
    '',
  ]);
});

test('deliveries show names the export that collected the delivery, with its times', async () => {
  expect((await run({ body: site }, 'show', 'docs', 'd1/x')).lines).toEqual([
    'd1/x from cms, N days ago: accepted',
    'Entry.publish (publish) Mov [2Jing by ada@example.com',
    'export 7: served, rolled back',
    '  job se_1, version v7, 12 pages, 2 publishes',
    ...['requested', 'started', 'exported', 'written', 'served', 'rolled back'].map((what) =>
      expect.stringMatching(new RegExp(`^  ${what} 2026-11-21 \\d\\d:\\d\\d:\\d\\d, N days ago$`)),
    ),
    '',
  ]);
  const { stdout } = await run({ body: site }, 'show', 'docs', 'd3', '--json');
  expect(JSON.parse(stdout)).toEqual({ delivery: site.deliveries[2], export: null });
  const all = await run({ body: site }, 'show', 'docs', '--json');
  expect(JSON.parse(all.stdout)).toMatchObject([
    ...site.deliveries.slice(0, 4).map((delivery) => ({ delivery, export: null })),
    { delivery: site.deliveries[4], export: record },
  ]);
  const unknown = await run({ body: site }, 'show', 'docs', 'd9');
  expect(unknown).toMatchObject({ code: 1, stdout: '' });
  expect(unknown.stderr).toContain('docs lists no delivery d9');
});

test('deliveries run-again exports the site, or prompts a rule, as the user of the machine', async () => {
  const path = '/sites/docs/deliveries/d1%2Fx/run-again';
  const user = userInfo().username;
  const exported = await run({ body: { site: 'docs' } }, 'run-again', 'docs', 'd1/x');
  expect(exported.requests).toEqual([['POST', path, user, '']]);
  expect(exported.stdout).toBe('docs is exported again.\n');
  const rule = { newest: { title: 'Moving', at } };
  const prompted = await run({ body: rule }, 'run-again', 'docs', 'd1/x', '--rule', 'changelog');
  expect(prompted.requests).toEqual([['POST', path, user, '{"rule":"changelog"}']]);
  expect(prompted.stdout).toBe('The rule changelog is prompted again, with its newest event: Moving.\n');
  const rejected = await run({ status: 409, body: { error: 'the site is paused' } }, 'run-again', 'docs', 'd1/x');
  expect(rejected).toMatchObject({ code: 1, stderr: expect.stringContaining('the site is paused') });
});
