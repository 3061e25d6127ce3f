import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { galley, galleyHere, spawnService } from '../helpers/galley.ts';
import { startHttpSite } from '../helpers/http-site.ts';
import { emptiedFolder } from '../helpers/temporary-folder.ts';

const folder = emptiedFolder();
const AT = '2026-11-21T08:13:42.000Z';
const TOKEN = { OPERATOR_TOKEN: 'token' };

const none = { jobId: null, version: null, exportedAt: null, writtenAt: null, servedAt: null, endedAt: null };
const record = {
  ...{ number: 3, trigger: 'request', publishCount: 0, title: null, author: 'ada', requestedAt: AT, startedAt: AT },
  ...{ ...none, rolledBackAt: null, outcome: null, error: null, pageCount: null },
};
const exported = { ...record, jobId: 'se_3', version: 'v3', pageCount: 12, exportedAt: '2026-11-21T08:13:54.000Z' };
const deployment = {
  ...{ name: 'production', kind: 'valuesFile', wave: 1, state: 'live', jobId: 'se_3', version: 'v3' },
  ...{ desired: { jobId: 'se_3', version: 'v3', reason: 'newest' }, writtenAt: AT, servedAt: AT, confirmed: true },
  ...{ linkExpiresAt: null, pin: null, off: false, error: null, url: 'https://docs.example.com', proposal: null },
};
const site = {
  ...{ site: 'docs', phase: 'exporting', current: true, deliveries: [], refreshes: [], deployments: [deployment] },
  ...{ exports: [record], actions: [{ at: AT, actor: 'ada', action: 'export', detail: null, error: null }] },
};
const served = { ...site, phase: 'live', exports: [{ ...exported, writtenAt: AT, servedAt: AT, outcome: 'served' }] };

/** An api that returns these states of the site, one at each request, and the last one from then on. */
async function apiWith(...states: unknown[]) {
  const asked: string[] = [];
  const api = await startHttpSite((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    const state = request.method === 'POST' || states.length === 1 ? states[0] : states.shift();
    response.end(JSON.stringify(state));
  });
  return { ...api, asked };
}

/** `galley …` against such an api, without the times in its output. */
async function run(states: unknown[], ...args: string[]) {
  const api = await apiWith(...states);
  const ended = await galleyHere([...args, '--url', api.origin], TOKEN, folder);
  await api.close();
  return { ...ended, asked: api.asked, stdout: ended.stdout.replaceAll(/^\d{4}-\d\d-\d\d [\d:]{8} {2}/gm, '') };
}

/** Starts a command that a signal ends. */
async function start(...args: string[]) {
  const service = await spawnService(args, TOKEN, folder);
  service.ready.catch(() => {});
  return service;
}

describe('galley sites export', () => {
  test('follows the export until it is served, and prints its URL', async () => {
    const found = await run(
      [{ ...site, progress: { percent: 41.7, pageCount: 5 } }, served],
      'sites',
      'export',
      'docs',
    );
    expect(found).toMatchObject({
      code: 0,
      stderr: '',
      asked: ['POST /sites/docs/export', ...Array(2).fill('GET /sites/docs')],
    });
    expect(found.stdout.split('\n')).toEqual([
      'Export 3 started: operator',
      'Exporting, 41 %, 5 pages',
      'Export 3 written',
      'Export 3 served',
      'Export 3 exported in 12 s, 12 pages: version v3',
      'Served: https://docs.example.com',
      '',
    ]);
  });

  test('with --json prints the final state alone', async () => {
    const { code, stdout } = await run([served], 'sites', 'export', 'docs', '--json');
    expect([code, JSON.parse(stdout)]).toEqual([0, served]);
  });

  test('with --detach returns at once', async () => {
    const found = await run([site], 'sites', 'export', 'docs', '--detach');
    expect(found).toMatchObject({ code: 0, stdout: 'docs: exporting\n', asked: ['POST /sites/docs/export'] });
  });

  test('of what replaced it, if a newer publish came first', async () => {
    const newer = { ...served.exports[0], number: 4 };
    const replaced = { ...record, endedAt: AT, outcome: 'superseded' };
    const { code, stdout } = await run([site, { ...served, exports: [newer, replaced] }], 'sites', 'export', 'docs');
    expect([code, stdout]).toEqual([0, expect.stringContaining('Export 4 served\n')]);
  });

  test.each([null, 'failed'])('goes on after a failed attempt that is repeated: outcome %s', async (outcome) => {
    const lastError = { message: 'the origin responds 503', status: 503, at: AT };
    const endedAt = outcome && AT;
    const failed = { ...site, phase: 'failed', nextTryAt: AT, lastError, exports: [{ ...record, outcome, endedAt }] };
    const number = outcome === null ? 3 : 4;
    const repeated = { ...served, exports: [{ ...served.exports[0], number }, ...(outcome ? failed.exports : [])] };
    const { code, stdout, stderr } = await run([site, failed, failed, repeated], 'sites', 'export', 'docs');
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toContain(`Export ${number} served\n`);
    expect(stdout).toContain('Served: https://docs.example.com\n');
  });

  const blocked = (state: string, more: object = {}) => ({
    ...{ ...site, phase: 'review', exports: [exported] },
    deployments: [{ ...deployment, jobId: 'se_2', version: 'v2', state, ...more }],
  });
  const ended = (outcome: string, error: string | null = null) => ({
    ...{ ...site, phase: 'failed', nextTryAt: null },
    exports: [{ ...record, endedAt: AT, outcome, error }],
  });

  test.each([
    [
      ended('failed', 'the origin responds 503'),
      /Export 3 of docs failed: the origin responds 503\. galley sites export docs exports again/,
    ],
    [ended('rejected'), /Export 3 of docs was rejected/],
    [
      {
        ...site,
        phase: 'review',
        review: { jobId: 'se_3', version: 'v3', at: AT, reasons: ['40 pages less'] },
        exports: [{ ...exported, outcome: 'held' }],
      },
      /v3 waits for approve or reject: 40 pages less\. galley sites approve docs .*galley sites reject docs/,
    ],
    [blocked('approval'), /production waits for approval: galley sites approve docs --deployment production/],
    [
      { ...blocked('locked'), lock: { by: 'ada', at: AT, reason: 'a release' } },
      /docs is locked by ada .*: a release\. galley sites unlock docs/,
    ],
    [
      blocked('proposed', { proposal: 'https://git.example.com/1' }),
      /pull request is merged: https:\/\/git\.example\.com\/1/,
    ],
    [blocked('held', { pin: 'v1' }), /production is pinned at v1/],
    [
      blocked('failed', { error: { message: 'the disk is full', status: null, at: AT } }),
      /production: Failing: the disk is full/,
    ],
    [{ ...site, phase: 'paused' }, /docs is paused: galley sites resume docs/],
  ])('says why it is not served: %#', async (state, message) => {
    const { code, stderr } = await run([state], 'sites', 'export', 'docs');
    expect([code, stderr]).toEqual([1, expect.stringMatching(message)]);
    const json = await run([state], 'sites', 'export', 'docs', '--json');
    expect([json.code, JSON.parse(json.stdout)]).toEqual([1, { ...state, error: expect.stringMatching(message) }]);
  });

  test('ends at Ctrl-C with 130, and says that the export goes on', async () => {
    const api = await apiWith(site);
    const { process: child, output } = await start('sites', 'export', 'docs', '--url', api.origin);
    child.stdout?.once('data', () => child.kill('SIGINT'));
    const code = await new Promise((resolve) => child.once('close', resolve));
    await api.close();
    expect([code, output()]).toEqual([130, expect.stringContaining('galley sites status docs')]);
  });
});

test('webhook send --follow follows the export that collects the delivery', async () => {
  await writeFile(
    join(folder, 'galley.yaml'),
    'sites: {docs: {domain: docs.example.com, webhooks: {token: {secret: a-secret-of-the-cms}}}}\n',
  );
  const deliveries = [
    { id: 'd1', source: 'token', at: AT, outcome: 'started', workflowId: 'export:docs', exportNumber: 3 },
  ];
  const api = await startHttpSite((request, response) => {
    const body =
      request.method === 'POST'
        ? { deliveryId: 'd1', accepted: ['export:docs'] }
        : { ...served, actions: [], deliveries };
    response.writeHead(request.method === 'POST' ? 202 : 200).end(JSON.stringify(body));
  });
  const { code, stdout } = await galleyHere(
    ['webhook', 'send', 'token', '--follow', '--url', api.origin],
    TOKEN,
    folder,
  );
  await api.close();
  expect([code, stdout]).toEqual([
    0,
    expect.stringMatching(
      /202: Accepted by export:docs\.\n[\s\S]*Accepted: d1 \(token\)\n[\s\S]*Served: https:\/\/docs/,
    ),
  ]);
});

test('exports show --follow and agents show --follow end with the job', async () => {
  const job = {
    jobId: 'se_1',
    status: 'running',
    progress: 5,
    pageCount: 1,
    version: 'v1',
    domain: 'a.example',
    createdAt: AT,
    updatedAt: AT,
    error: null,
  };
  const agentJob = {
    id: 'aj_1',
    status: 'active',
    source: { repository: null, ref: null },
    model: 'm',
    prLink: null,
    createdAt: AT,
    updatedAt: AT,
    archivedAt: null,
    error: null,
  };
  const follow = async (states: unknown[], ...args: string[]) => {
    const api = await apiWith(...states);
    const ended = await galleyHere([...args, '--follow'], { ADMIN_API_URL: api.origin, ADMIN_API_KEY: 'k' }, folder);
    await api.close();
    return ended;
  };
  const completed = await follow([job, { ...job, status: 'completed', progress: 100 }], 'exports', 'show', 'se_1');
  expect(completed).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^se_1: running, 5 %, 1 page\nse_1: completed, 100 %/),
  });
  const failed = await follow(
    [agentJob, { ...agentJob, status: 'failed', error: 'no change' }],
    'agents',
    'show',
    'aj_1',
    '--project',
    'prj_a',
    '--json',
  );
  expect([failed.code, JSON.parse(failed.stdout)]).toEqual([
    1,
    { ...agentJob, status: 'failed', error: expect.stringContaining('failed: no change') },
  ]);
});

describe('galley logs', () => {
  const action = { at: '2026-11-21T08:20:00.000Z', actor: 'ada', action: 'pause', detail: null, error: null };
  const state = {
    ...{
      ...served,
      actions: [action],
      refreshes: [{ at: '2026-11-21T08:19:00Z', version: 'v3', expiresAt: null, error: 'no answer' }],
    },
    deliveries: [
      {
        id: 'd1',
        source: 'github',
        at: '2026-11-21T08:13:40Z',
        outcome: 'filtered',
        workflowId: null,
        title: 'A \u001b[2J',
        why: 'not to main',
      },
    ],
  };

  test('shows what happened at the only site of galley.yaml, the newest last', async () => {
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, 'galley.yaml'), 'sites: {docs: {domain: docs.example.com}}\n');
    const { code, stdout } = await run([state], 'logs');
    expect([code, stdout.split('\n')]).toEqual([
      0,
      [
        'Filtered: A  [2J (github): not to main',
        'Export 3 started: operator',
        'Export 3 written',
        'Export 3 served',
        'Export 3 exported in 12 s, 12 pages: version v3',
        'Refresh failed: no answer',
        'Pause by ada',
        '',
      ],
    ]);
    expect(JSON.parse((await run([state], 'logs', '--json')).stdout)).toMatchObject({
      site: 'docs',
      events: expect.arrayContaining([{ at: action.at, text: 'Pause by ada', exportNumber: null }]),
    });
  });

  test('--follow and --watch show what is new, until Ctrl-C', async () => {
    const api = await apiWith(served, { ...state, phase: 'paused' });
    for (const [args, text] of [
      [['logs', 'docs', '--follow'], 'Pause by ada'],
      [['sites', 'status', 'docs', '--watch'], 'docs: paused'],
    ] as const) {
      const { process: child } = await start(...args, '--url', api.origin);
      let output = '';
      child.stdout?.on('data', (chunk) => {
        output += chunk;
        if (output.includes(text)) child.kill('SIGINT');
      });
      expect([await new Promise((resolve) => child.once('close', resolve)), output]).toEqual([
        130,
        expect.stringContaining(text),
      ]);
    }
    await api.close();
  });
});

describe('SITE', () => {
  const sites = (...names: string[]) =>
    `sites: {${names.map((name) => `${name}: {domain: ${name}.example}`).join(', ')}}\n`;

  test.each([
    [['sites', 'pause'], 'POST /sites/docs/pause'],
    [['sites', 'rollback', 'v7'], 'POST /sites/docs/rollback'],
    [['deliveries', 'list'], 'GET /sites/docs'],
    [['deliveries', 'run-again', 'd1'], 'POST /sites/docs/deliveries/d1/run-again'],
    [['agents', 'remove', 'changelog'], 'DELETE /sites/docs/agents/changelog'],
    [['sites', 'pause', 'guide'], 'POST /sites/guide/pause'],
    [['sites', 'rollback', 'guide', 'v7'], 'POST /sites/guide/rollback'],
  ])('can be left out of galley %j if there is only one', async (args, request) => {
    await writeFile(join(folder, 'galley.yaml'), sites('docs'));
    expect((await run([{ ...served, exports: [] }], ...args)).asked).toEqual([request]);
  });

  test.each([
    [[], ['sites', 'pause'], 'there is no galley.yaml with sites in this folder'],
    [['docs', 'guide'], ['sites', 'export', '--json'], 'galley.yaml has docs, guide'],
    [['docs', 'guide'], ['sites', 'rollback', 'v7'], 'galley.yaml has docs, guide'],
    [['docs'], ['sites', 'rollback', 'docs'], 'VERSION_OR_JOB: expected it after the site docs'],
    [['docs'], ['webhook', 'send'], 'SOURCE: expected it after the site docs'],
  ])('is asked for otherwise: %j, galley %j', async (names, args, message) => {
    await writeFile(join(folder, 'galley.yaml'), names.length === 0 ? '' : sites(...names));
    const { code, stderr, stdout } = await galleyHere(args, TOKEN, folder);
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
    expect(stdout).toEqual(args.includes('--json') ? expect.stringContaining('"error"') : '');
  });

  test('that is unknown is answered with those that exist', async () => {
    const api = await startHttpSite(({ url = '' }, response) => {
      if (url.startsWith('/sites?'))
        response.end(JSON.stringify({ sites: [{ site: 'handbook' }, { site: 'guide' }], nextCursor: null }));
      else response.writeHead(404).end(JSON.stringify({ error: 'no such site' }));
    });
    const { code, stderr, stdout } = await galleyHere(
      ['sites', 'pause', 'handbok', '--json', '--url', api.origin],
      TOKEN,
      folder,
    );
    await api.close();
    const error = `handbok: no such site at ${api.origin}, which has handbook, guide. Did you mean handbook?`;
    expect([code, stderr, JSON.parse(stdout)]).toEqual([1, `galley: ${error}\n`, { error }]);
  });
});

test('with --json every failure is an object with its error on standard output, usage errors too', async () => {
  for (const [args, code, error] of [
    [['sites', 'status', '--json', '--nonsense'], 2, "unknown option '--nonsense'"],
    [['sites', '--json'], 2, 'unknown option'],
    [['exports', 'show', '--json'], 2, "missing required argument 'job'"],
    [['config', 'check', '--json'], 2, 'GALLEY_CONFIG: expected'],
    [['keys', 'create', '--json'], 2, '--organization <name>'],
  ] as const) {
    const ended = await galley([...args], {}, folder);
    expect([ended.code, JSON.parse(ended.stdout)]).toEqual([code, { error: expect.stringContaining(error) }]);
  }
});
