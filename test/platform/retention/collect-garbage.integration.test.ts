import { mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { sql } from 'drizzle-orm';
import { pino } from 'pino';
import { exportJob } from '../../../contract/admin-api.ts';
import { bundleKey } from '../../../exporter/object-keys.ts';
import { createObjectStore } from '../../../platform/objects/create-object-store.ts';
import { collectGarbage } from '../../../platform/retention/collect-garbage.ts';
import type { ExportKeep } from '../../../platform/retention/export-keep.ts';
import type { GarbageContext } from '../../../platform/retention/garbage.ts';
import { failExportJob } from '../../../platform/store/export-job-transitions.ts';
import { logUse } from '../../../platform/store/usage-log.ts';
import { galley } from '../../helpers/galley.ts';
import { type Customer, OPERATOR_TOKEN, type TestPlatform } from '../../helpers/platform-api.ts';
import type { TestDatabase } from '../../helpers/test-database.ts';
import type { ApiClient } from '../api/api-client.ts';
import { useApi } from '../api/api-fixture.ts';

const JOBS = '/v1/static-export/jobs';
const DAY_MS = 86_400_000;
const KEEP: ExportKeep = { newest: 2, linkedWithinMs: 90 * DAY_MS };

describe('collecting garbage', () => {
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

  const collect = async (given: Partial<GarbageContext> = {}) => {
    const { db, objects } = platform;
    const fixed = { exportKeep: undefined, dryRun: false, signal: new AbortController().signal };
    const at = new Date(platform.now());
    const { jobs } = await collectGarbage({ db, objects, logger: pino({ level: 'silent' }), at, ...fixed, ...given });
    return Object.fromEntries(jobs.map(({ job, ...found }) => [job, found]));
  };
  const isStored = async (key: string) => (await platform.objects.head(key)) !== null;
  const store = (key: string, text = 'x') =>
    platform.objects.put(key, Buffer.from(text), { contentType: 'text/plain' });
  const inMs = (ms: number) => new Date(platform.now() + ms);

  async function start(paths?: string[]): Promise<string> {
    const body = { domain: customer.domain, ...(paths && { paths }) };
    return exportJob.parse((await api.post(JOBS, { key: customer.key, body })).body).jobId;
  }

  async function complete(archive?: Uint8Array, paths?: string[]): Promise<string> {
    const jobId = await start(paths);
    await platform.complete(jobId, archive ?? Buffer.from(`the archive of ${jobId}`));
    return jobId;
  }

  async function fail(): Promise<string> {
    const jobId = await start();
    const counts = { brokenLinks: 0, redirects: 0, skippedPages: 0 };
    const report = { jobId, brokenLinks: [], redirects: [], skippedPages: [], truncated: false, counts };
    await store(`reports/${jobId}.json`, JSON.stringify(report));
    await failExportJob(platform.db, jobId, 'test', `reports/${jobId}.json`);
    return jobId;
  }

  const link = async (jobId: string) => (await api.post(`${JOBS}/${jobId}/bundle`, { key: customer.key })).status;
  const answers = async (jobId: string) => {
    const paths = ['', '/report'].map((path) => `${JOBS}/${jobId}${path}`);
    const responses = await Promise.all(paths.map((path) => api.get(path, { key: customer.key })));
    return [...responses.map(({ status }) => status), await link(jobId)];
  };

  it('keeps the newest exports and those with a recent link; the others have a job but no bundle', async () => {
    const linked = await complete();
    expect(await link(linked)).toBe(200);
    const old = await complete();
    const kept = [await complete(), await complete()];
    const size = Buffer.byteLength(`the archive of ${old}`);

    const found = { count: 1, sizeBytes: size, items: [old] };
    expect(await collect({ exportKeep: KEEP, dryRun: true })).toMatchObject({
      exports: found,
      discarded: { count: 0 },
    });
    expect(await collect({ exportKeep: KEEP })).toMatchObject({ exports: found, discarded: { count: 2 } });
    expect(await answers(old)).toEqual([200, 410, 410]);
    expect((await api.get(`${JOBS}/${old}/changes`, { key: customer.key })).status).toBe(410);
    expect(await isStored(`reports/${old}.json`)).toBe(false);
    for (const jobId of [linked, ...kept]) expect(await answers(jobId)).toEqual([200, 200, 200]);
    expect(await collect({ exportKeep: KEEP })).toMatchObject({ exports: { count: 0 } });

    const later = inMs(91 * DAY_MS);
    expect(await collect({ exportKeep: KEEP, at: later })).toMatchObject({ exports: { items: [linked] } });
    for (const jobId of kept) expect(await answers(jobId)).toEqual([200, 200, 200]);
  });

  it('keeps all exports without the rule, and always the only completed one', async () => {
    const only = await complete();
    const failed = await fail();
    const later = inMs(1_000 * DAY_MS);
    expect(await collect({ at: later })).toMatchObject({ exports: { count: 0 } });
    await collect({ exportKeep: { ...KEEP, newest: 1 }, at: later });
    expect(await answers(only)).toEqual([200, 200, 200]);
    expect(await answers(failed)).toEqual([200, 200, 409]);
    await complete();
    const { exports } = await collect({ exportKeep: { ...KEEP, newest: 1 }, at: later });
    expect(exports?.items).toEqual(expect.arrayContaining([failed, only]));
    expect(await answers(failed)).toEqual([200, 410, 409]);
  });

  it('keeps the archive that another export has, the export of the whole site, and what a running one reuses', async () => {
    const { db } = platform;
    const reused = await complete();
    const first = await complete(Buffer.from('twice'));
    const whole = await complete(Buffer.from('twice'));
    const pages = await complete(undefined, ['/a']);
    const running = await start();
    for (const [jobId, base] of [
      [running, reused],
      [reused, null],
    ]) {
      await db.execute(
        sql`insert into crawls (job_id, settings_json, keep, base_job_id) values (${jobId}, '{}', true, ${base})`,
      );
    }
    const { exports } = await collect({ exportKeep: { newest: 1, linkedWithinMs: 1 }, at: inMs(DAY_MS) });
    expect(exports?.items).toEqual([first]);
    for (const jobId of [reused, whole, pages]) expect([jobId, await link(jobId)]).toEqual([jobId, 200]);
    const { body } = await api.post(`${JOBS}/${whole}/bundle`, { key: customer.key });
    const { bundleUrl } = body as { bundleUrl: string };
    expect(await (await fetch(bundleUrl)).text()).toBe('twice');
  });

  it('deletes rows whose time is over, and uses from a clock that was ahead', async () => {
    const { db } = platform;
    const { key, domain } = customer;
    await api.post(JOBS, { key, body: { domain }, headers: { 'idempotency-key': 'once' } });
    const times = { old: -2 * DAY_MS, now: -60_000, ahead: 365 * DAY_MS };
    for (const [scope, ms] of Object.entries(times)) await logUse(db, { scope: `test ${scope}`, usedAt: inMs(ms) });
    const delivery = sql`insert into forge_deliveries (id, project_id, event, body_json, delivered_at) values`;
    await db.execute(sql`${delivery} ('old', ${customer.project}, 'push', '{}', now() - interval '8 days'),
      ('new', ${customer.project}, 'push', '{}', now()), ('waiting', ${customer.project}, 'push', '{}', null)`);
    await db.execute(
      sql`insert into setup_links values ('old', now() - interval '1 hour'), ('new', now() + interval '1 hour')`,
    );
    await db.execute(
      sql`update audit_log set at = now() - interval '401 days' where target = ${domain} or detail = ${domain}`,
    );

    const counts = { responses: { count: 0 }, deliveries: { count: 1 }, sessions: { count: 1 }, audit: { count: 1 } };
    const found = await collect({ dryRun: true });
    expect(found).toMatchObject({ ...counts, uses: { count: 2 } });
    for (const job of Object.keys(counts)) {
      const { count = 0, sizeBytes } = found[job] ?? {};
      expect([job, sizeBytes]).toEqual([job, count === 0 ? 0 : expect.any(Number)]);
    }
    expect(found.audit?.sizeBytes).toBeGreaterThan(domain.length);
    const { deliveries, sessions, audit, uses } = found;
    expect(await collect()).toMatchObject({ ...counts, deliveries, sessions, audit, uses });
    expect((await db.execute(sql`select scope from usage_log where scope like 'test %'`)).rows).toEqual([
      { scope: 'test now' },
    ]);
    const left = await db.execute(sql`select id from forge_deliveries order by id`);
    expect(left.rows).toEqual([{ id: 'new' }, { id: 'waiting' }]);
    expect(await collect({ at: inMs(31 * DAY_MS) })).toMatchObject({ responses: { count: 1 } });
  });

  it('deletes keys that were revoked or expired 400 days ago', async () => {
    const { db } = platform;
    for (const name of ['revoked', 'expired', 'lately', 'in use']) {
      await api.adminPost('/admin/keys', { organization: customer.organization, name });
    }
    const days = (count: number) => sql`now() - make_interval(days => ${count})`;
    await db.execute(sql`update api_keys set revoked_at = ${days(401)} where name = 'revoked'`);
    await db.execute(sql`update api_keys set expires_at = ${days(401)} where name = 'expired'`);
    await db.execute(sql`update api_keys set revoked_at = ${days(399)} where name = 'lately'`);
    expect(await collect()).toMatchObject({ keys: { count: 2 } });
    const left = await db.execute(sql`select name from api_keys where name is not null order by name`);
    expect(left.rows.map(({ name }) => name)).toEqual(expect.arrayContaining(['in use', 'lately']));
    expect(left.rows.map(({ name }) => name)).not.toEqual(expect.arrayContaining(['revoked']));
    expect(left.rows.map(({ name }) => name)).not.toEqual(expect.arrayContaining(['expired']));
  });

  it('deletes the logs of agent runs that ended 90 days ago', async () => {
    const path = `/v2/agent/${customer.project}/job`;
    const { body } = await api.post(path, { key: customer.key, body: { prompt: 'Write' } });
    const { id } = body as { id: string };
    const log = `agent/${id}/1/log.txt`;
    await store(log);
    await platform.db.execute(sql`
      update agent_runs set status = 'completed', log_key = ${log}, log_size_bytes = 7, finished_at = now()
      where job_id = ${id}`);
    const found = { count: 1, sizeBytes: 7, items: [log] };
    expect(await collect({ at: inMs(89 * DAY_MS) })).toMatchObject({ 'agent-logs': { count: 0 } });
    expect(await collect({ at: inMs(91 * DAY_MS), dryRun: true })).toMatchObject({ 'agent-logs': found });
    expect(await isStored(log)).toBe(true);
    expect(await collect({ at: inMs(91 * DAY_MS) })).toMatchObject({ 'agent-logs': found });
    expect(await isStored(log)).toBe(false);
    expect((await api.get(`${path}/${id}/log`, { key: customer.key })).text).toBe('');
  });

  it('deletes only the leftover objects of jobs that ended a while ago', async () => {
    const { db } = platform;
    const over = await fail();
    await db.execute(sql`update export_jobs set finished_at = now() - interval '1 hour' where id = ${over}`);
    const fresh = await fail();
    const running = await start();
    const kept = [...[fresh, running].map((jobId) => `exports/${jobId}/segments/a`), `reports/${over}.json`];
    const leftover = [`exports/${over}/members/0-a`, `exports/${over}/segments/late`];
    for (const key of [...kept, ...leftover]) await store(key);
    const found = { count: 2, sizeBytes: 2, items: leftover };
    expect(await collect({ dryRun: true })).toMatchObject({ leftovers: found });
    for (const key of leftover) expect(await isStored(key)).toBe(true);
    await collect();
    for (const key of kept) expect([key, await isStored(key)]).toEqual([key, true]);
    for (const key of leftover) expect([key, await isStored(key)]).toEqual([key, false]);
  });

  it('deletes only the packs of agent runs that ended a while ago', async () => {
    const path = `/v2/agent/${customer.project}/job`;
    const newPack = async (ended: string) => {
      const { body } = await api.post(path, { key: customer.key, body: { prompt: 'Write' } });
      const { id } = body as { id: string };
      const keys = [`agent/${id}/1/packs/a.pack`, `agent/${id}/1/log.txt`];
      for (const key of keys) await store(key);
      await platform.db.execute(sql`
        update agent_runs set finished_at = ${sql.raw(ended)}, outcome_pack_key = ${keys[0]} where job_id = ${id}`);
      return keys;
    };
    const [over = '', ...logs] = await newPack("now() - interval '1 hour'");
    const kept = [...logs, ...(await newPack('now()')), ...(await newPack('null'))];
    const found = { count: 1, items: [over] };
    expect(await collect({ dryRun: true })).toMatchObject({ leftovers: { ...found, sizeBytes: 1 } });
    expect(await collect()).toMatchObject({ leftovers: found });
    expect(await isStored(over)).toBe(false);
    for (const key of kept) expect([key, await isStored(key)]).toEqual([key, true]);
  });

  it('deletes an object without an owner a week after it found it, unless it has one by then', async () => {
    const jobId = await start();
    const lost = [
      bundleKey('a'.repeat(64)),
      'reports/se_gone.json',
      'exports/se_gone/segments/1',
      'agent/aj_gone/1/log.txt',
    ];
    for (const key of lost) await store(key);
    const found = { count: lost.length, items: expect.arrayContaining(lost) };
    expect(await collect({ dryRun: true })).toMatchObject({ ownerless: { ...found, sizeBytes: lost.length } });
    expect(await collect()).toMatchObject({ ownerless: found });
    expect(await collect({ at: inMs(6 * DAY_MS) })).toMatchObject({
      ownerless: { count: 0 },
      discarded: { count: 0 },
    });
    // A restored database may know the job again.
    await platform.db.execute(sql`update export_jobs set report_key = 'reports/se_gone.json' where id = ${jobId}`);
    await collect({ at: inMs(8 * DAY_MS) });
    for (const key of lost) expect([key, await isStored(key)]).toEqual([key, key === 'reports/se_gone.json']);
  });

  it('marks no objects in a store that another database uses', async () => {
    await store('owners/another');
    const lost = bundleKey('b'.repeat(64));
    await store(lost);
    await collect();
    expect(await collect({ at: inMs(8 * DAY_MS) })).toMatchObject({ ownerless: { count: 0 } });
    expect(await isStored(lost)).toBe(true);
    await platform.objects.delete(['owners/another', lost]);
  });

  it('drops drafts that are older than a day', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'galley-swept-'));
    const objects = await createObjectStore({ url: pathToFileURL(folder).href });
    const drafts = join(folder, '.tmp');
    for (const [name, ageHours] of Object.entries({ 'a day old': 25, 'of today': 22 })) {
      await writeFile(join(drafts, name), 'x');
      await utimes(join(drafts, name), new Date(), new Date(Date.now() - ageHours * 3_600_000));
    }
    const found = { count: 1, items: ['a day old'] };
    expect(await collect({ objects, dryRun: true })).toMatchObject({ uploads: { ...found, sizeBytes: 1 } });
    expect(await readdir(drafts)).toHaveLength(2);
    expect(await collect({ objects })).toMatchObject({ uploads: found });
    expect(await readdir(drafts)).toEqual(['of today']);
    await objects.close();
    await rm(folder, { recursive: true });
  });

  it('by the command: directly on the database, and on the admin route of a running service', async () => {
    const lost = bundleKey('c'.repeat(64));
    await store(lost);
    const { status, body } = await api.adminPost('/admin/gc', { dryRun: true });
    expect([status, body]).toEqual([
      200,
      { dryRun: true, jobs: expect.arrayContaining([expect.objectContaining({ job: 'ownerless' })]) },
    ]);
    expect((await api.request('POST', '/admin/gc', { key: customer.key, body: { dryRun: true } })).status).toBe(401);
    expect((await api.request('POST', '/admin/gc', { key: OPERATOR_TOKEN, body: {} })).status).toBe(400);

    const variables = { DATABASE_URL: database.url, GALLEY_HOME: join(tmpdir(), 'galley-no-home') };
    const without = await galley(['gc', '--dry-run'], variables);
    expect([without.code, without.stderr]).toEqual([2, expect.stringContaining('OBJECT_STORE_URL')]);
    const OBJECT_STORE_URL = platform.objectStoreUrl;
    const dry = await galley(['gc', '--dry-run'], { ...variables, OBJECT_STORE_URL });
    expect([dry.code, dry.stdout]).toEqual([0, expect.stringContaining(`  ${lost}\n`)]);
    const done = await galley(['gc', '--json'], { ...variables, OBJECT_STORE_URL });
    expect(JSON.parse(done.stdout)).toMatchObject({ dryRun: false, jobs: expect.any(Array) });
  });
});
