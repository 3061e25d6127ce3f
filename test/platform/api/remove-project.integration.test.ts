import { sql } from 'drizzle-orm';
import { agentJobSchema, exportJob } from '../../../contract/admin-api.ts';
import { deleteDiscarded } from '../../../platform/retention/delete-discarded.ts';
import { galley } from '../../helpers/galley.ts';
import { type Customer, OPERATOR_TOKEN, type TestPlatform } from '../../helpers/platform-api.ts';
import type { TestDatabase } from '../../helpers/test-database.ts';
import type { ApiClient } from './api-client.ts';
import { useApi } from './api-fixture.ts';

const JOBS = '/v1/static-export/jobs';
const DAY_MS = 86_400_000;

describe('removing a project', () => {
  let database: TestDatabase;
  let platform: TestPlatform;
  let api: ApiClient;
  let customer: Customer;

  useApi((fixture) => {
    ({ database, platform, api } = fixture);
  });
  beforeEach(async () => {
    customer = await platform.addCustomer();
  });

  const remove = (query = '') => api.request('DELETE', `/admin/projects/${customer.project}${query}`, operator);
  const operator = { key: OPERATOR_TOKEN };

  async function startExport(headers: Record<string, string> = {}): Promise<string> {
    const { body } = await api.post(JOBS, { key: customer.key, body: { domain: customer.domain }, headers });
    return exportJob.parse(body).jobId;
  }

  /** What a completed export leaves: a bundle, a report, rows of a kept crawl, and its pieces. */
  async function completeExport(jobId: string): Promise<void> {
    await platform.complete(jobId, Buffer.from(`the archive of ${jobId}`));
    await platform.objects.put(`exports/${jobId}/segments/1`, Buffer.from('kept'), { contentType: 'text/plain' });
    await platform.db.execute(sql`insert into crawls (job_id, settings_json, keep) values (${jobId}, '{}', true)`);
    await platform.db.execute(
      sql`insert into crawl_urls (job_id, url, rank, depth, state) values (${jobId}, 'https://a.example/', 0, 0, 'settled')`,
    );
  }

  /** An agent job that has ended, with its log. */
  async function completeAgentJob(): Promise<string> {
    const path = `/v2/agent/${customer.project}/job`;
    const { id } = agentJobSchema.parse((await api.post(path, { key: customer.key, body: { prompt: 'Write' } })).body);
    const log = `agent/${id}/1/log.txt`;
    await platform.objects.put(log, Buffer.from('done'), { contentType: 'text/plain' });
    await platform.db.execute(sql`update agent_runs set status = 'completed', log_key = ${log} where job_id = ${id}`);
    await platform.db.execute(sql`update agent_jobs set status = 'completed' where id = ${id}`);
    return id;
  }

  async function storedKeys(): Promise<string[]> {
    const keys: string[] = [];
    for await (const key of platform.objects.list('')) keys.push(key);
    return keys;
  }

  const clean = (at: number) => {
    const { signal } = new AbortController();
    return deleteDiscarded({ ...platform, exportKeep: undefined, at: new Date(at), dryRun: false, signal });
  };

  it('deletes its jobs, their rows and their stored objects, and nothing of other projects', async () => {
    const other = await platform.addCustomer();
    const { body } = await api.post(JOBS, { key: other.key, body: { domain: other.domain } });
    await platform.complete(exportJob.parse(body).jobId, Buffer.from('of another'));
    const othersKeys = await storedKeys();

    const exports = [await startExport({ 'idempotency-key': 'once' })];
    await completeExport(exports[0] ?? '');
    exports.push(await startExport());
    await completeExport(exports[1] ?? '');
    const agent = await completeAgentJob();
    expect(await storedKeys()).toHaveLength(othersKeys.length + 7);

    const kept = await remove();
    expect([kept.status, kept.error]).toEqual([409, expect.stringContaining('2 exports and 1 agent jobs')]);
    const removed = await remove('?contents=delete');
    expect(removed).toMatchObject({
      status: 200,
      body: { project: customer.project, contents: { exports: 2, bundles: 2, agentJobs: 1, runningExports: [] } },
    });
    expect((await remove('?contents=delete')).status).toBe(404);
    for (const jobId of exports) expect((await api.get(`${JOBS}/${jobId}`, { key: customer.key })).status).toBe(404);
    for (const table of ['crawls', 'crawl_urls', 'agent_runs']) {
      const ids = sql.join(
        [...exports, agent].map((id) => sql`${id}`),
        sql`, `,
      );
      const { rows } = await platform.db.execute(sql`select 1 from ${sql.identifier(table)} where job_id in (${ids})`);
      expect([table, rows]).toEqual([table, []]);
    }

    await clean(platform.now());
    expect(await storedKeys()).toEqual(othersKeys);
    // A worker that still wrote when its job had ended.
    await platform.objects.put(`exports/${exports[0]}/late`, Buffer.from('late'), { contentType: 'text/plain' });
    await clean(platform.now() + DAY_MS - 3_600_000);
    expect(await storedKeys()).toContain(`exports/${exports[0]}/late`);
    await clean(platform.now() + DAY_MS + 60_000);
    expect(await storedKeys()).toEqual(othersKeys);
    expect((await platform.db.execute('select 1 from discarded_objects')).rows).toEqual([]);

    // Added again, it is a new project: a repeated request starts a new export.
    const { organization, project, domain } = customer;
    await api.adminPost('/admin/projects', { organization, project, domain });
    expect(exports).not.toContain(await startExport({ 'idempotency-key': 'once' }));
  });

  it('is refused while a job runs, and says how to end it', async () => {
    const jobId = await startExport();
    const refused = await remove('?contents=delete');
    expect([refused.status, refused.error]).toEqual([409, expect.stringContaining(`galley exports cancel ${jobId}`)]);
    await platform.complete(jobId);
    expect((await remove('?contents=delete')).status).toBe(200);
  });

  it('leaves no job behind if an export starts at that moment', async () => {
    const [started, removed] = await Promise.all([
      api.post(JOBS, { key: customer.key, body: { domain: customer.domain } }),
      remove('?contents=delete'),
    ]);
    expect([
      [202, 409],
      [404, 200],
    ]).toContainEqual([started.status, removed.status]);
  });

  it('by the command: shows what would be deleted and needs --yes without a terminal', async () => {
    await completeExport(await startExport());
    const variables = { DATABASE_URL: database.url };
    const asked = await galley(['projects', 'remove', customer.project], variables);
    expect(asked).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(/1 export, 1 bundle[\s\S]*--yes/),
    });
    const done = await galley(['projects', 'remove', customer.project, '--yes'], variables);
    expect(done).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(`${customer.project} was removed, with 1 export`),
    });
    const again = await galley(['projects', 'remove', customer.project, '--yes'], variables);
    expect(again).toMatchObject({ code: 1, stderr: expect.stringContaining('There is no project') });
  });
});
