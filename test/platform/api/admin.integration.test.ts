import { sql } from 'drizzle-orm';
import { z } from 'zod';
import { canCompress } from '../../../exporter/assemble/precompress.ts';
import { OPERATOR_TOKEN, startTestPlatform, type TestPlatform } from '../../helpers/platform-api.ts';
import type { TestDatabase } from '../../helpers/test-database.ts';
import { type ApiClient, createApiClient } from './api-client.ts';
import { useApi } from './api-fixture.ts';

const key = OPERATOR_TOKEN;

describe('the admin routes', () => {
  let database: TestDatabase;
  let platform: TestPlatform;
  let api: ApiClient;

  useApi((fixture) => {
    ({ database, platform, api } = fixture);
  });

  it('reject everything but the operator token, including API keys', async () => {
    const customer = await platform.addCustomer();
    for (const wrong of [undefined, '', 'wrong', `${OPERATOR_TOKEN}x`, customer.key]) {
      for (const path of ['/admin/keys', '/admin/projects']) {
        expect((await api.get(path, wrong === undefined ? {} : { key: wrong })).status).toBe(401);
        expect((await api.post(path, wrong === undefined ? {} : { key: wrong })).status).toBe(401);
      }
    }
  });

  it('do not exist if no operator token is set', async () => {
    const closed = await startTestPlatform(database, { db: platform.db, operatorToken: '' });
    expect((await createApiClient(closed.baseUrl).get('/admin/keys', { key })).status).toBe(404);
    await closed.stop();
  });

  it('create a key and its organization, show the key once, and revoke it', async () => {
    const created = await api.adminPost('/admin/keys', { organization: 'Acme', name: 'CI' });
    expect(created.status).toBe(201);
    const { id, key: secret, organization } = JSON.parse(created.text);
    expect([organization, secret]).toEqual(['Acme', expect.stringMatching(/^galley_[\w-]{49}$/)]);
    const list = await api.get('/admin/keys?organization=Acme', { key });
    expect(list.body).toMatchObject({
      keys: [{ id, organization: 'Acme', plan: 'enterprise', name: 'CI', revokedAt: null }],
    });
    expect(list.text).not.toContain(secret);
    expect(secret.startsWith(JSON.parse(list.text).keys[0].prefix)).toBe(true);
    expect((await api.get('/v1/static-export/jobs', { key: secret })).status).toBe(200);
    const revoked = await api.adminPost(`/admin/keys/${id}/revoke`, {});
    expect(await api.adminPost(`/admin/keys/${id}/revoke`, {})).toMatchObject({ body: revoked.body });
    expect((await api.get('/v1/static-export/jobs', { key: secret })).status).toBe(401);
    for (const unknown of ['key_none', 'key_%00', 'k'.repeat(2_000)]) {
      expect((await api.adminPost(`/admin/keys/${unknown}/revoke`, {})).status).toBe(404);
    }
  });

  it('move a project with its jobs, and remove an organization that has none left', async () => {
    const [from, to] = [await platform.addCustomer(), await platform.addCustomer()];
    const move = (organization: string) => api.adminPost(`/admin/projects/${from.project}/move`, { organization });
    const started = await api.post('/v1/static-export/jobs', { key: from.key, body: { domain: from.domain } });
    const { jobId } = z.object({ jobId: z.string() }).loose().parse(started.body);
    expect(await move(to.organization)).toMatchObject({
      status: 409,
      error: expect.stringContaining(`can't be moved while a job runs (${jobId})`),
    });
    await platform.complete(jobId);
    expect(await move('Nobody')).toMatchObject({ status: 404, error: expect.stringContaining('organizations list') });
    const scoped = await api.adminPost('/admin/keys', { organization: from.organization, project: from.project });

    // The same again changes nothing.
    for (let times = 0; times < 2; times++) {
      expect(await move(to.organization)).toMatchObject({ status: 200, body: { organization: to.organization } });
    }
    const get = (key: string) => api.get(`/v1/static-export/jobs/${jobId}`, { key });
    expect([(await get(to.key)).status, (await get(from.key)).status]).toEqual([200, 404]);
    const ended = z.object({ key: z.string() }).loose().parse(scoped.body);
    expect((await get(ended.key)).status).toBe(401);
    const audit = await platform.db.execute(
      sql`select detail from audit_log where action = 'project.move' and target = ${from.project}`,
    );
    expect(audit.rows).toEqual(Array(2).fill({ detail: `from ${from.organization} to ${to.organization}` }));

    const remove = (organization: string) =>
      api.request('DELETE', `/admin/organizations?organization=${encodeURIComponent(organization)}`, { key });
    expect(await remove(to.organization)).toMatchObject({ status: 409, error: expect.stringContaining(from.project) });
    expect(await remove(from.organization)).toMatchObject({ status: 200, body: { organization: from.organization } });
    expect((await remove(from.organization)).status).toBe(404);
    expect((await get(from.key)).status).toBe(401);
    const { text } = await api.get('/admin/organizations', { key });
    expect([text.includes(to.organization), text.includes(`"${from.organization}"`)]).toEqual([true, false]);
  });

  it('do not store a key in plain text', async () => {
    const { text } = await api.adminPost('/admin/keys', { organization: 'Acme' });
    const { key: secret } = JSON.parse(text);
    const rows = await platform.db.execute('select * from api_keys');
    expect(rows.rows.length).toBeGreaterThan(0);
    expect(JSON.stringify(rows.rows)).not.toContain(secret);
  });

  it('change a plan only by a request for that, never with a new key', async () => {
    const plan = async () => JSON.parse((await api.get('/admin/keys?organization=Plans', { key })).text).keys[0].plan;
    await api.adminPost('/admin/keys', { organization: 'Plans', plan: 'free' });
    await api.adminPost('/admin/keys', { organization: 'Plans' });
    expect(await plan()).toBe('free');
    const refused = await api.request('POST', '/admin/keys', {
      key,
      body: { organization: 'Plans', plan: 'enterprise' },
    });
    expect(refused).toMatchObject({
      status: 400,
      body: { error: expect.stringContaining('galley organizations set "Plans" --plan enterprise') },
    });
    expect(await plan()).toBe('free');
    const set = (body: object) => api.request('PATCH', '/admin/organizations', { key, body });
    expect(await set({ organization: 'Plans', plan: 'enterprise' })).toMatchObject({
      status: 200,
      body: { organization: 'Plans', plan: 'enterprise' },
    });
    expect(await plan()).toBe('enterprise');
    expect((await set({ organization: 'Nobody', plan: 'free' })).status).toBe(404);
    expect((await set({ organization: 'Plans', plan: 'gold' })).status).toBe(400);
    expect((await set({ organization: 'Plans' })).status).toBe(400);
    expect((await set({ organization: 'Plans', name: 'Renamed' })).body).toEqual({
      organization: 'Renamed',
      plan: 'enterprise',
    });
    await api.adminPost('/admin/keys', { organization: 'Plans' });
    expect((await set({ organization: 'Plans', name: 'Renamed' })).status).toBe(409);
  });

  it('create keys with scopes, for projects of their organization only', async () => {
    await api.adminPost('/admin/keys', { organization: 'Scopes' });
    await api.adminPost('/admin/projects', { organization: 'Scopes', project: 'prj_scopes', domain: 'scopes.example' });
    const limits = { scope: 'read', project: 'prj_scopes' };
    expect((await api.adminPost('/admin/keys', { organization: 'Scopes', ...limits })).status).toBe(201);
    for (const wrong of [{ scope: 'write' }, { project: 'scopes' }, { organization: 'Elsewhere', ...limits }]) {
      expect((await api.adminPost('/admin/keys', { organization: 'Scopes', ...wrong })).status).toBe(400);
    }
    const listed = JSON.parse((await api.get('/admin/keys?organization=Scopes', { key })).text).keys;
    const unused = { createdBy: null, lastUsedAt: null };
    expect(listed).toMatchObject([
      { ...limits, ...unused },
      { scope: null, project: null, ...unused },
    ]);
    const elsewhere = await api.get('/admin/keys?organization=Elsewhere', { key });
    expect(JSON.parse(elsewhere.text)).toEqual({ keys: [] });
    await api.request('DELETE', '/admin/projects/prj_scopes?contents=delete', { key });
    expect(JSON.parse((await api.get('/admin/keys?organization=Scopes', { key })).text).keys).toHaveLength(1);
  });

  it('add, change and list projects, without their webhook secret', async () => {
    await api.adminPost('/admin/keys', { organization: 'Docs' });
    const added = await api.adminPost('/admin/projects', {
      organization: 'Docs',
      project: 'prj_docs',
      domain: 'Docs.Example.com',
      origin: 'http://127.0.0.1:8080/',
      settings: { scripts: 'strip', external: ['cdn.example.com'], webhookSecret: 'hush' },
    });
    expect(added.status).toBe(201);
    expect(added.body).toEqual({
      project: 'prj_docs',
      organization: 'Docs',
      domain: 'docs.example.com',
      origin: 'http://127.0.0.1:8080',
      repository: null,
      ref: null,
      settings: {
        external: ['cdn.example.com'],
        scripts: 'strip',
        sourceMaps: 'omit',
        robots: 'respect',
        render: 'http',
        discover: 'http',
        prove: 0,
        search: 'off',
        markdown: 'keep',
        basePath: '',
        incremental: true,
        precompress: [],
        agentPaths: null,
        webhookUrl: null,
        webhookSecretSet: true,
      },
    });
    const change = { project: 'prj_docs', origin: null, repository: 'https://git.example.com/docs.git', ref: 'main' };
    const changed = await api.request('PATCH', '/admin/projects', {
      key,
      body: {
        ...change,
        settings: { scripts: 'keep', render: 'browser', discover: 'browser', precompress: ['br', 'gzip'] },
      },
    });
    expect(changed.body).toMatchObject({
      ...change,
      domain: 'docs.example.com',
      settings: {
        ...{ scripts: 'keep', external: ['cdn.example.com'], webhookSecretSet: true },
        ...{ render: 'browser', discover: 'browser', precompress: ['br', 'gzip'] },
      },
    });
    const listed = await api.get('/admin/projects?organization=Docs', { key });
    expect(listed.body).toEqual({ projects: [changed.body] });
    expect(listed.text).not.toContain('hush');
  });

  it('accept zstd only if this Node version supports it', async () => {
    await api.adminPost('/admin/projects', { organization: 'Acme', project: 'prj_zstd', domain: 'zstd.example.com' });
    const body = { project: 'prj_zstd', settings: { precompress: ['zstd'] } };
    const changed = await api.request('PATCH', '/admin/projects', { key, body });
    if (canCompress('zstd')) expect(changed.body).toMatchObject({ settings: { precompress: ['zstd'] } });
    else expect([changed.status, changed.error]).toEqual([400, expect.stringContaining('zstd needs Node 22.15')]);
  });

  it('reject names that are taken and names that do not exist', async () => {
    await api.adminPost('/admin/keys', { organization: 'Taken' });
    const first = { organization: 'Taken', project: 'prj_taken_1', domain: 'one.example.com' };
    const second = { organization: 'Taken', project: 'prj_taken_2', domain: 'two.example.com' };
    for (const each of [first, second]) expect((await api.adminPost('/admin/projects', each)).status).toBe(201);
    const refused = async (project: object) => {
      const { status, error } = await api.request('POST', '/admin/projects', { key, body: project });
      return [status, error];
    };
    const domainTaken = [409, 'Taken has a project of one.example.com already: prj_taken_1'];
    expect(await refused(first)).toEqual(domainTaken);
    expect(await refused({ ...first, project: 'prj_taken_3' })).toEqual(domainTaken);
    const idTaken = [409, 'There is a project prj_taken_1 already: choose another id'];
    expect(await refused({ ...first, domain: 'free.example.com' })).toEqual(idTaken);
    expect((await api.adminPost('/admin/projects', { ...first, organization: 'Nobody' })).status).toBe(404);
    const patch = (body: object) => api.request('PATCH', '/admin/projects', { key, body });
    expect((await patch({ project: 'prj_taken_1', domain: 'two.example.com' })).status).toBe(409);
    expect((await patch({ project: 'prj_none', domain: 'three.example.com' })).status).toBe(404);
    expect((await patch({ project: 'prj_taken_1', organization: 'Acme', ref: 'main' })).status).toBe(404);
  });

  it.each([
    [{ project: 'docs' }, 'project'],
    [{ domain: 'no domain' }, 'domain'],
    [{ origin: 'ftp://127.0.0.1' }, 'origin'],
    [{ origin: 'http://127.0.0.1/path' }, 'origin'],
    [{ origin: 'http://user:pass@127.0.0.1' }, 'origin'],
    [{ repository: 'not a url' }, 'repository'],
    [{ repository: 'https://ada:hidden@git.example.com/docs' }, 'repository'],
    [{ ref: '--upload-pack=x' }, 'ref'],
    [{ ref: '../main' }, 'ref'],
    [{ settings: { scripts: 'off' } }, 'settings.scripts'],
    [{ settings: { external: [] } }, 'settings.external'],
    [{ settings: { render: 'firefox' } }, 'settings.render: expected http or browser'],
    [{ settings: { precompress: ['deflate'] } }, 'settings.precompress.0: expected br, gzip or zstd'],
    [{ settings: { colour: 'red' } }, 'colour'],
    [{ organization: '\u0000' }, 'organization'],
    [{ owner: 'x' }, 'owner'],
  ])('reject the project %j and name the field', async (wrong, field) => {
    const body = { organization: 'Docs', project: 'prj_wrong', domain: 'wrong.example.com', ...wrong };
    const response = await api.adminPost('/admin/projects', body);
    expect([response.status, response.error]).toEqual([400, expect.stringContaining(field)]);
  });

  it.each([
    ['webhookSecret', 'hush\u0000hush'],
    ['webhookSecret', 'hush\ud800'],
    ['webhookUrl', 'https://ci.example.com/\u0000'],
  ])('reject the project setting %s %j, which the database cannot store', async (name, value) => {
    const { organization, project } = await platform.addCustomer();
    const response = await api.request('PATCH', '/admin/projects', {
      key,
      body: { organization, project, settings: { [name]: value } },
    });
    expect([response.status, response.error]).toEqual([400, expect.stringContaining(`settings.${name}`)]);
  });

  it('accept an operator token of any characters', async () => {
    const operatorToken = 'p@ss!word:$"x"';
    const other = await startTestPlatform(database, { db: platform.db, operatorToken });
    const client = createApiClient(other.baseUrl);
    const [right, wrong] = [
      await client.get('/admin/keys', { key: operatorToken }),
      await client.get('/admin/keys', { key: `${operatorToken}x` }),
    ];
    await other.stop();
    expect([right.status, wrong.status]).toEqual([200, 401]);
  });
});
