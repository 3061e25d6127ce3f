import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '@temporalio/client';
import { DefaultLogger, Runtime } from '@temporalio/worker';
import { pino } from 'pino';
import { z } from 'zod';
import { createPayloadEncryption } from '../../cli/payload-encryption.ts';
import type { GalleyConfig } from '../../contract/galley-config.ts';
import { siteState } from '../../contract/site-state.ts';
import { createOrchestratorWorker } from '../../worker/worker.ts';
import { waitFor } from '../helpers/system/wait-for.ts';
import { connectTemporal, type TestTemporal } from '../helpers/temporal.ts';
import { workflowBundles } from '../helpers/workflow-bundles.ts';
import { type SmallAdminApi, startSmallAdminApi } from '../workflows/small-admin-api.ts';
import { configWith, OPERATOR_TOKEN, type RunningApi, startApi } from './running-api.ts';
import { signGithub } from './signing.ts';

const SECRET = 'hush';
const status = siteState.extend({ current: z.boolean() });
const page = z.object({ sites: z.array(status), nextCursor: z.string().nullable() });

Runtime.install({ logger: new DefaultLogger('ERROR') });

// Encrypted, as in production where it is configured: the progress must still be readable.
const dataConverter = { payloadCodecs: [createPayloadEncryption(Buffer.alloc(32, 7))] };

let folder: string;
let temporal: TestTemporal;
let adminApi: SmallAdminApi;
let config: GalleyConfig;
let api: RunningApi;
let client: Client;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'galley-status-'));
  temporal = await connectTemporal();
  adminApi = await startSmallAdminApi(Date.now);
  client = new Client({ connection: temporal.client.connection, namespace: temporal.namespace, dataConverter });
  const site = (name: string) => ({
    webhooks: { github: { secret: SECRET } },
    export: { quietPeriod: '100ms', maxWait: '1s', deployments: [{ valuesFile: join(folder, `${name}.yaml`) }] },
  });
  config = configWith({ docs: site('docs'), apart: site('apart'), blog: site('blog') });
  api = await startApi({ client, config, searchAttributesReady: () => true });
});

afterAll(async () => {
  await api.stop();
  await adminApi.close();
  await temporal.stop();
  await rm(folder, { recursive: true });
});

async function withWorker(work: () => Promise<void>): Promise<void> {
  const worker = await createOrchestratorWorker({
    connection: temporal.nativeConnection,
    namespace: temporal.namespace,
    dataConverter,
    readSite: (site) => config.sites[site],
    adminApi: { url: adminApi.url, key: adminApi.key },
    minRefreshIntervalMs: 1_000,
    searchAttributes: true,
    logger: pino({ level: 'silent' }),
    workflowBundle: workflowBundles.orchestrator,
  });
  await worker.runUntil(work());
}

async function get(path: string, token = OPERATOR_TOKEN): Promise<Response> {
  return await fetch(api.url + path, { headers: { authorization: `Bearer ${token}` } });
}

const statusOf = async (site: string) => status.parse(await (await get(`/sites/${site}`)).json());

/** Waits for a state; one that the workflow itself tells is `current`. A busy machine may have Temporal's record first. */
async function until(site: string, holds: (state: z.infer<typeof status>) => boolean) {
  const probe = async () => {
    const state = await statusOf(site);
    if (holds(state)) return state;
    throw new Error(JSON.stringify(state));
  };
  return await waitFor(probe, { describe: 'reached the state' });
}

async function push(site: string, ref = 'refs/heads/main', asDelivery?: string): Promise<string> {
  const body = JSON.stringify({ ref, after: 'f00' });
  const signed = await signGithub({ secret: SECRET, body, path: '', at: new Date() });
  const headers = asDelivery === undefined ? signed : { ...signed, 'x-github-delivery': asDelivery };
  const answer = await fetch(`${api.url}/webhooks/${site}/github`, { method: 'POST', headers, body });
  expect(answer.status).toBe(202);
  return headers['x-github-delivery'] ?? '';
}

describe('the operator token', () => {
  test.each([
    ['is missing', {}],
    ['is wrong', { authorization: 'Bearer nonsense' }],
    ['is empty', { authorization: 'Bearer ' }],
    ['is of another scheme', { authorization: `Basic ${OPERATOR_TOKEN}` }],
    ['has more behind it', { authorization: `Bearer ${OPERATOR_TOKEN}x` }],
  ])('that %s is 401', async (_, headers) => {
    for (const path of ['/sites', '/sites/docs', '/sites/nowhere']) {
      const answer = await fetch(api.url + path, { headers });
      expect([answer.status, answer.headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
      expect(await answer.json()).toEqual({ error: expect.any(String) });
    }
  });

  test('that is not configured lets nobody in', async () => {
    for (const operatorToken of [undefined, '']) {
      const closed = await startApi({ client, config, operatorToken });
      try {
        for (const token of ['', 'undefined', OPERATOR_TOKEN]) {
          const answer = await fetch(`${closed.url}/sites`, { headers: { authorization: `Bearer ${token}` } });
          expect(answer.status).toBe(401);
        }
      } finally {
        await closed.stop();
      }
    }
  });
});

describe('a site', () => {
  test.each(['nowhere', '__proto__', 'constructor'])('that is not configured is 404: %s', async (site) => {
    const answer = await get(`/sites/${site}`);
    expect([answer.status, await answer.json()]).toEqual([404, { error: 'no such site' }]);
  });

  test('that was never published is idle, and lists what it filtered', async () => {
    const id = await push('blog', 'refs/heads/other');
    expect(await statusOf('blog')).toMatchObject({
      site: 'blog',
      phase: 'idle',
      jobId: null,
      lastError: null,
      deployments: [{ valuesFile: join(folder, 'blog.yaml'), version: null, held: false }],
      deliveries: [{ id, source: 'github', outcome: 'filtered', workflowId: null }],
      progress: null,
      current: true,
    });
  });

  test('tells its progress while it is exported, its version when it is live, and what Temporal stores without a worker', async () => {
    adminApi.behaviour.jobDurationMs = 3_600_000;
    let live: z.infer<typeof status> | undefined;
    await withWorker(async () => {
      const published = await push('docs');
      const filtered = await push('docs', 'refs/heads/other');
      const exporting = await until('docs', ({ progress, current }) => progress !== null && current);
      expect(exporting).toMatchObject({ phase: 'exporting', progress: { percent: 50, pageCount: 7 } });
      expect(exporting.deliveries).toMatchObject([
        { id: filtered, outcome: 'filtered' },
        { id: published, outcome: 'started', workflowId: 'export:docs' },
      ]);
      adminApi.behaviour.jobDurationMs = 0;
      live = await until('docs', ({ phase, current }) => phase === 'live' && current);
      expect(live).toMatchObject({ version: 'v1', progress: null });
      expect(live.deployments).toMatchObject([{ valuesFile: join(folder, 'docs.yaml'), version: 'v1' }]);
    });

    // Temporal's own record follows a moment later.
    const recorded = await until('docs', ({ current, phase }) => !current && phase === 'live');
    expect(recorded).toMatchObject({ version: 'v1', linkExpiresAt: expect.any(String) });
    expect(Math.abs(Date.parse(recorded.linkExpiresAt ?? '') - Date.parse(live?.linkExpiresAt ?? ''))).toBeLessThan(1);

    const all = page.parse(await (await get('/sites')).json());
    expect(all.nextCursor).toBeNull();
    expect(all.sites.map(({ site, phase }) => [site, phase])).toEqual([
      ['apart', 'idle'],
      ['blog', 'idle'],
      ['docs', 'live'],
    ]);
  });

  test('that gets a delivery once more accepts it and starts nothing', async () => {
    await withWorker(async () => {
      const { deliveries } = await until('docs', ({ current }) => current);
      const first = deliveries.find(({ outcome }) => outcome === 'started');
      await push('docs', 'refs/heads/main', first?.id);
      const after = await until('docs', ({ deliveries: [newest] }) => newest?.outcome === 'duplicate');
      expect(after).toMatchObject({ phase: 'live', deliveries: [{ id: first?.id }, {}, { id: first?.id }] });
      expect(adminApi.jobs).toHaveLength(1);
    });
  });

  test('whose workflow was ended is idle: nothing keeps it fresh', async () => {
    await push('apart');
    await client.workflow.getHandle('export:apart').terminate('shown by a test');
    expect(await until('apart', ({ current }) => current)).toMatchObject({ phase: 'idle' });
  });
});

describe('the list of sites', () => {
  test('comes in pages, in the order of their names', async () => {
    const first = page.parse(await (await get('/sites?limit=2')).json());
    expect([first.sites.map(({ site }) => site), first.nextCursor]).toEqual([['apart', 'blog'], 'blog']);
    const second = page.parse(await (await get(`/sites?limit=2&cursor=${first.nextCursor}`)).json());
    expect([second.sites.map(({ site }) => site), second.nextCursor]).toEqual([['docs'], null]);
    expect(page.parse(await (await get('/sites?cursor=zzz')).json())).toEqual({ sites: [], nextCursor: null });
  });

  test.each(['0', '201', 'all', '1.5'])('with the limit %s is 400', async (limit) => {
    const answer = await get(`/sites?limit=${limit}`);
    expect([answer.status, await answer.json()]).toEqual([400, { error: expect.stringContaining('limit') }]);
  });

  test('carries the live states of running sites', async () => {
    await withWorker(async () => {
      const docs = async () => {
        const { sites } = page.parse(await (await get('/sites')).json());
        return sites.find(({ site, current }) => site === 'docs' && current);
      };
      expect(await waitFor(docs, { describe: 'listed the live state' })).toMatchObject({
        phase: 'live',
        exportedAt: expect.any(String),
        deliveries: expect.arrayContaining([expect.objectContaining({ outcome: 'started' })]),
      });
    });
  });
});
