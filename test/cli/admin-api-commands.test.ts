import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { galleyHere } from '../helpers/galley.ts';
import { startHttpSite } from '../helpers/http-site.ts';
import { emptiedFolder } from '../helpers/temporary-folder.ts';

const AT = '2026-11-21T08:13:42.000Z';
const EXPORT = {
  ...{ jobId: 'se_0123456789abcdef', status: 'running', progress: 41.7, pageCount: 12, version: '2026-11-21.1' },
  ...{ domain: 'docs.example.com', createdAt: AT, updatedAt: AT, error: null },
};
const AGENT_JOB = {
  ...{ id: 'aj_0123456789abcdef', status: 'completed', source: { repository: 'https://git.example.com/a', ref: null } },
  ...{ model: 'example', prLink: 'https://git.example.com/a/pulls/1', createdAt: AT, updatedAt: AT, archivedAt: null },
  error: null,
};

/** Runs a command against an Admin API with this response. Returns the output and the request. */
async function run(args: string[], response: unknown, cwd?: string): Promise<{ stdout: string; asked: string }> {
  let asked = '';
  const api = await startHttpSite(async (request, reply) => {
    const chunks: Uint8Array[] = [];
    for await (const chunk of request) chunks.push(chunk);
    asked = `${request.method} ${request.url} ${request.headers.authorization} ${Buffer.concat(chunks)}`.trim();
    reply.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(response));
  });
  try {
    const variables = { ADMIN_API_URL: `${api.origin}/`, ADMIN_API_KEY: 'galley_key' };
    const { stdout } = await galleyHere(args, variables, cwd);
    // How long ago it was depends on when the test runs.
    return { stdout: stdout.replaceAll(/\d+ \w+ ago/g, 'N days ago').replaceAll(/ +\n/g, '\n'), asked };
  } finally {
    await api.close();
  }
}

describe('galley exports', () => {
  const path = `/v1/static-export/jobs/${EXPORT.jobId}`;

  test('list shows a line for each export', async () => {
    const { stdout, asked } = await run(['exports', 'list', '--domain', 'docs.example.com', '--limit', '5'], {
      jobs: [EXPORT, ...['no \u001b[2Jorigin', 'cancelled'].map((error) => ({ ...EXPORT, status: 'failed', error }))],
      nextCursor: null,
    });
    expect(asked).toBe('GET /v1/static-export/jobs?domain=docs.example.com&limit=5 Bearer galley_key');
    expect(stdout.split('\n')).toEqual([
      'Job                  Status         Pages  Version       Started',
      `${EXPORT.jobId}  running, 41 %  12     2026-11-21.1  N days ago`,
      `${EXPORT.jobId}  failed         12     2026-11-21.1  N days ago`,
      '  no [2Jorigin',
      `${EXPORT.jobId}  canceled       12     2026-11-21.1  N days ago`,
      '',
    ]);
  });

  test('show --json prints the job with fields of other services', async () => {
    const { stdout, asked } = await run(['exports', 'show', EXPORT.jobId, '--json'], { ...EXPORT, more: 1 });
    expect(asked).toBe(`GET ${path} Bearer galley_key`);
    expect(JSON.parse(stdout)).toEqual({ ...EXPORT, more: 1 });
  });

  test('changes shows what was added, changed and removed, and what broke', async () => {
    const referrer = 'https://docs.example.com/a';
    const { stdout, asked } = await run(['exports', 'changes', EXPORT.jobId], {
      since: 'se_0000000000000001',
      ...{ added: ['new.html'], changed: ['a.html'], removed: ['old.html'] },
      newlyBroken: [{ link: 'https://docs.example.com/x', referrer }],
    });
    expect(asked).toBe(`GET ${path}/changes Bearer galley_key`);
    expect(stdout.split('\n')).toEqual([
      'Since se_0000000000000001: 1 added, 1 changed, 1 removed',
      '+ new.html',
      '~ a.html',
      '- old.html',
      `broken: https://docs.example.com/x on ${referrer}`,
      '',
    ]);
  });

  test('changes shows the first twenty paths and counts the others', async () => {
    const changed = Array.from({ length: 25 }, (_, index) => `${index}.html`);
    const response = { since: 'se_0000000000000001', added: [], changed, removed: [], newlyBroken: [] };
    const { stdout } = await run(['exports', 'changes', EXPORT.jobId], response);
    expect(stdout).toContain('~ 19.html\n  and 5 more: --json lists all\n');
  });

  test.each([
    ['accepted', EXPORT, `${EXPORT.jobId} is being canceled.\n`],
    ['already-finished', { ...EXPORT, status: 'completed' }, `${EXPORT.jobId} was completed.\n`],
  ])('cancel says that the request was %s', async (result, job, text) => {
    const { stdout, asked } = await run(['exports', 'cancel', EXPORT.jobId], { result, job });
    expect(asked).toBe(`POST ${path}/cancel Bearer galley_key`);
    expect(stdout).toBe(text);
  });
});

describe('galley agents', () => {
  const path = `/v2/agent/prj_docs/job/${AGENT_JOB.id}`;
  const project = ['--project', 'prj_docs'];

  test('list shows a line for each job of the project', async () => {
    const { stdout, asked } = await run(['agents', 'list', ...project], { jobs: [AGENT_JOB], nextCursor: null });
    expect(asked).toBe('GET /v2/agent/prj_docs/jobs?limit=20 Bearer galley_key');
    expect(stdout.split('\n')).toEqual([
      'Job                  Status     Started',
      `${AGENT_JOB.id}  completed  N days ago`,
      `  ${AGENT_JOB.prLink}`,
      '',
    ]);
  });

  test('show shows the job with its pull request', async () => {
    const { stdout, asked } = await run(['agents', 'show', AGENT_JOB.id, ...project], AGENT_JOB);
    expect(asked).toBe(`GET ${path} Bearer galley_key`);
    expect(stdout).toContain(`${AGENT_JOB.id}: completed\nrepository https://git.example.com/a\npull request https://`);
  });

  test('message sends a follow-up prompt', async () => {
    const response = { ...AGENT_JOB, status: 'active', prLink: null };
    const { stdout, asked } = await run(['agents', 'message', AGENT_JOB.id, 'More', ...project], response);
    expect(asked).toBe(`POST ${path}/message Bearer galley_key {"prompt":"More"}`);
    expect(stdout).toContain(`${AGENT_JOB.id}: active\n`);
  });

  test('cancel and archive end a job', async () => {
    const canceled = await run(['agents', 'cancel', AGENT_JOB.id, ...project], { result: 'accepted', job: AGENT_JOB });
    expect(canceled).toEqual({
      stdout: `${AGENT_JOB.id} is being canceled.\n`,
      asked: `POST ${path}/cancel Bearer galley_key`,
    });
    const archived = await run(['agents', 'archive', AGENT_JOB.id, ...project], { ...AGENT_JOB, status: 'archived' });
    expect([archived.asked, archived.stdout]).toEqual([
      `POST ${path}/archive Bearer galley_key`,
      expect.stringContaining(': archived\n'),
    ]);
  });
});

describe('galley agents without --project', () => {
  const folder = emptiedFolder();
  const list = ['agents', 'list'];

  test('takes the project of galley.yaml, whose other variables need not be set', async () => {
    const docs = `domain: a.example, projectId: prj_docs, webhooks: {sanity: {secret: "\${UNSET}"}}`;
    await writeFile(join(folder, 'galley.yaml'), `sites: {docs: {${docs}}, api: {domain: b.example}}\n`);
    const { asked } = await run(list, { jobs: [], nextCursor: null }, folder);
    expect(asked).toBe('GET /v2/agent/prj_docs/jobs?limit=20 Bearer galley_key');
  });

  test('fails if galley.yaml names none or several', async () => {
    const none = await galleyHere(list, {}, folder);
    expect([none.code, none.stderr]).toEqual([2, expect.stringContaining('galley.yaml names none')]);
    const sites = '{docs: {domain: a.example, projectId: prj_a}, api: {domain: b.example, projectId: prj_b}}';
    await writeFile(join(folder, 'galley.yaml'), `sites: ${sites}\n`);
    const several = await galleyHere(list, {}, folder);
    expect([several.code, several.stderr]).toEqual([2, expect.stringContaining('galley.yaml names prj_a, prj_b')]);
  });
});

test('a command of the Admin API without its URL, or without a key, names the variable', async () => {
  const home = { GALLEY_HOME: '/nowhere' };
  const withoutUrl = await galleyHere(['exports', 'list'], home);
  expect([withoutUrl.code, withoutUrl.stderr]).toEqual([2, expect.stringContaining('ADMIN_API_URL: expected')]);
  const withoutKey = await galleyHere(['exports', 'list'], { ...home, ADMIN_API_URL: 'http://127.0.0.1:1' });
  expect([withoutKey.code, withoutKey.stderr]).toEqual([2, expect.stringContaining('ADMIN_API_KEY: expected')]);
});
