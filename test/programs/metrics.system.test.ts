import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import { startFakeAdminApi } from '../helpers/admin-api/fake-admin-api.ts';
import { freePort } from '../helpers/free-port.ts';
import { type RunningGalley, spawnService, startGalley } from '../helpers/galley.ts';
import { locateRealTool } from '../helpers/real-tool.ts';
import { createCleanups } from '../helpers/system/cleanups.ts';
import { waitFor } from '../helpers/system/wait-for.ts';
import { connectTemporal } from '../helpers/temporal.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';
import { createDatabase } from '../helpers/test-database.ts';

const PROGRAMS = ['api', 'worker', 'platform', 'platform-worker', 'agent-worker', 'deployment'] as const;
type Program = (typeof PROGRAMS)[number];

const SECRET = 'the-token-of-the-webhook';

const cleanups = createCleanups();
const urls = new Map<Program, string>();
const folder = temporaryFolder();
let variables: Record<string, string>;

beforeAll(async () => {
  const [temporal, database, adminApi] = await Promise.all([connectTemporal(), createDatabase(), startFakeAdminApi()]);
  cleanups.add(temporal.stop);
  cleanups.add(database.stop);
  cleanups.add(adminApi.close);
  variables = {
    ...{ PORT: '0', PLATFORM_PORT: '0', DEPLOYMENT_PORT: '0', METRICS_PORT: '0', GALLEY_HOME: join(folder, 'state') },
    ...{ TEMPORAL_ADDRESS: temporal.address, TEMPORAL_NAMESPACE: temporal.namespace, DATABASE_URL: database.url },
    ...{ OBJECT_STORE_URL: `file://${folder}/objects`, ADMIN_API_URL: adminApi.url, ADMIN_API_KEY: adminApi.key },
  };
  await writeFile(
    join(folder, 'galley.yaml'),
    `adminApi: {url: "\${ADMIN_API_URL}", key: "\${ADMIN_API_KEY}"}
smtp: {url: "smtp://127.0.0.1:1", from: galley@example.com}
operators: [ops@example.com]
sites:
  handbook:
    domain: docs.example.com
    webhooks: {token: {secret: ${SECRET}}}
    export: {quietPeriod: 100ms, deployments: [{valuesFile: values.yaml}]}
`,
  );
  await writeFile(join(folder, 'other.yaml'), 'staticExport: {enabled: true, bundleUrl: "http://127.0.0.1:1/none"}\n');
});
afterAll(cleanups.run);

async function start(program: Program): Promise<void> {
  const args = program === 'deployment' ? [program, '--values', 'other.yaml'] : [program];
  const running: RunningGalley = await startGalley(args, variables, folder);
  cleanups.add(async () => void (await running.stop('SIGKILL')));
  urls.set(program, /http:\S+/.exec(running.ready)?.[0] ?? `no URL in ${running.ready}`);
}

async function scrape(program: Program): Promise<string> {
  const path = program === 'deployment' ? '/-/metrics' : '/metrics';
  const response = await fetch(`${urls.get(program)}${path}`);
  expect(response.headers.get('content-type')).toContain('text/plain; version=0.0.4');
  return await response.text();
}

/** The value of a series, by the start of its line. */
function sampleOf(metrics: string, series: string): number | undefined {
  const line = metrics.split('\n').find((each) => each.startsWith(`${series} `));
  return line === undefined ? undefined : Number(line.slice(series.length + 1));
}

describe('a worker that waits for Temporal', () => {
  it('is alive but not ready', async () => {
    const port = await freePort();
    const away = { ...variables, METRICS_PORT: String(port), TEMPORAL_ADDRESS: '127.0.0.1:1' };
    const { process: child, ready } = await spawnService(['worker'], away, folder);
    ready.catch(() => {});
    cleanups.add(async () => void child.kill('SIGKILL'));
    const get = async (path: string) => await fetch(`http://127.0.0.1:${port}${path}`);
    await waitFor(async () => (await get('/-/healthz')).ok, { describe: 'was alive' });
    const response = await get('/-/readyz');
    expect({ status: response.status, body: await response.json() }).toEqual({
      status: 503,
      body: { error: expect.stringContaining('not polling yet') },
    });
    expect((await get('/nothing')).status).toBe(404);
    child.kill('SIGKILL');
  });
});

describe('the metrics of each program', () => {
  beforeAll(async () => {
    await Promise.all(PROGRAMS.map(start));
  });

  it.each(PROGRAMS)('are valid for promtool, and include those of the process: %s', async (program) => {
    const metrics = await scrape(program);
    expect(sampleOf(metrics, 'process_resident_memory_bytes')).toBeGreaterThan(1_000_000);
    for (const name of ['p99', 'max']) expect(sampleOf(metrics, `nodejs_eventloop_lag_${name}_seconds`)).toBeDefined();
    const { stdout } = await execa(await locateRealTool('promtool'), ['check', 'metrics'], {
      input: metrics,
      reject: false,
      all: true,
    });
    // promtool only has advice about the names, which come from Node's client and Temporal's SDK.
    expect(stdout).not.toMatch(/error/i);
  });

  it.each(['worker', 'platform-worker', 'agent-worker'] as const)(
    'include the SDK of %s, which is ready',
    async (program) => {
      await waitFor(async () => (await fetch(`${urls.get(program)}/-/readyz`)).ok, { describe: 'was ready' });
      await waitFor(async () => /^temporal_num_pollers\{.*\} [1-9]/m.test(await scrape(program)), {
        describe: 'polled',
      });
    },
  );

  it('show a published site, its link and its queue at the receiver', async () => {
    const beforeS = Date.now() / 1000;
    const published = await fetch(`${urls.get('api')}/webhooks/handbook/token`, {
      method: 'POST',
      headers: { authorization: `Bearer ${SECRET}`, 'content-type': 'application/json' },
      body: '{"id":"entry-1"}',
    });
    expect(published.status).toBe(202);
    const isLive = async () =>
      sampleOf(await scrape('api'), 'galley_site_phase{site="handbook",phase="live"}') === 1 &&
      sampleOf(await scrape('api'), 'galley_site_served_publish_timestamp_seconds{site="handbook"}') !== undefined;
    await waitFor(isLive, { describe: 'showed the site' });
    const metrics = await scrape('api');
    const of = (name: string) => sampleOf(metrics, `galley_site_${name}_timestamp_seconds{site="handbook"}`) ?? 0;
    expect(of('served_publish')).toBeGreaterThan(beforeS - 1);
    expect(of('served_publish')).toBeLessThan(Date.now() / 1000);
    expect(of('link_late')).toBeGreaterThan(beforeS);
    expect(of('link_expiry')).toBeGreaterThan(of('link_late'));
    expect(sampleOf(metrics, 'galley_site_oldest_unserved_seconds{site="handbook"}')).toBe(0);
    expect(sampleOf(metrics, 'galley_sites_configured')).toBe(1);
    expect(sampleOf(metrics, 'galley_sites_listed')).toBe(1);
    const queue = 'queue="galley-orchestrator",type="workflow"';
    expect(sampleOf(metrics, `galley_task_queue_pollers{${queue}}`)).toBeGreaterThan(0);
    expect(sampleOf(metrics, `galley_task_queue_backlog{${queue}}`)).toBe(0);
    expect(sampleOf(metrics, `galley_task_queue_backlog_age_seconds{${queue}}`)).toBe(0);
  });

  it('show jobs and queues of the platform, and that the deployment serves nothing', async () => {
    const platform = await scrape('platform');
    expect(sampleOf(platform, 'galley_platform_jobs{kind="export",status="running"}')).toBe(0);
    expect(sampleOf(platform, 'galley_platform_jobs{kind="agent",status="active"}')).toBe(0);
    const agents = 'galley_task_queue_pollers{queue="galley-platform-agents",type="activity"}';
    expect(sampleOf(platform, agents)).toBeGreaterThan(0);
    const deployment = await scrape('deployment');
    expect(sampleOf(deployment, 'galley_deployment_stale{host="*"}')).toBe(1);
    expect(sampleOf(deployment, 'galley_deployment_serving{host="*"}')).toBe(0);
  });

  it('show that the watchdog has checked, because operators are configured', async () => {
    const checked = /^galley_watchdog_checked_timestamp_seconds\{.*\} \d+/m;
    await waitFor(async () => checked.test(await scrape('worker')), { describe: 'checked' });
    expect(await scrape('worker')).toMatch(/^galley_watchdog_problems\{.*kind="failing-tasks".*\} 0/m);
  });

  it('match the documentation', async () => {
    const all = (await Promise.all(PROGRAMS.map(scrape))).join('\n');
    const types = [...all.matchAll(/^# TYPE (galley_\w+)/gm)].map(([, name]) => name);
    const page = readFileSync('docs/operate/monitoring.md', 'utf8');
    expect(types.filter((name) => !page.includes(`\`${name}`))).toEqual([]);
  });
});
