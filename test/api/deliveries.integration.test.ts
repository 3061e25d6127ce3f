import { setTimeout as sleep } from 'node:timers/promises';
import { DefaultLogger, Runtime } from '@temporalio/worker';
import { pino } from 'pino';
import { z } from 'zod';
import type { GalleyConfig } from '../../contract/galley-config.ts';
import { type DeliveryRecord, siteState } from '../../contract/site-state.ts';
import { createOrchestratorWorker } from '../../worker/worker.ts';
import { connectTemporal, type TestTemporal } from '../helpers/temporal.ts';
import { workflowBundles } from '../helpers/workflow-bundles.ts';
import { type SmallAdminApi, startSmallAdminApi } from '../workflows/small-admin-api.ts';
import { configWith, OPERATOR_TOKEN, type RunningApi, startApi } from './running-api.ts';
import { signGithub } from './signing.ts';

const SECRET = 'hush-hush';
const status = siteState.extend({
  current: z.boolean(),
  rejected: z.array(z.object({ source: z.string(), reason: z.string(), count: z.number(), lastAt: z.iso.datetime() })),
});

Runtime.install({ logger: new DefaultLogger('ERROR') });

let temporal: TestTemporal;
let adminApi: SmallAdminApi;
let config: GalleyConfig;
let api: RunningApi;

beforeAll(async () => {
  temporal = await connectTemporal();
  adminApi = await startSmallAdminApi(Date.now);
  const site = {
    webhooks: { github: { secret: SECRET }, token: { secret: SECRET, filters: { event: 'publish' } } },
    export: { quietPeriod: '500ms', maxWait: '5s' },
  };
  config = configWith({ burst: site, early: site, filtered: site, refused: site, pulls: site });
  api = await startApi({ client: temporal.client, config });
});

afterAll(async () => {
  await api.stop();
  await adminApi.close();
  await temporal.stop();
});

async function withWorker(work: () => Promise<void>): Promise<void> {
  const worker = await createOrchestratorWorker({
    connection: temporal.nativeConnection,
    namespace: temporal.namespace,
    readSite: (site) => config.sites[site],
    adminApi: { url: adminApi.url, key: adminApi.key },
    minRefreshIntervalMs: 1_000,
    searchAttributes: false,
    logger: pino({ level: 'silent' }),
    workflowBundle: workflowBundles.orchestrator,
  });
  await worker.runUntil(work());
}

async function statusOf(site: string, from = api): Promise<z.infer<typeof status>> {
  const headers = { authorization: `Bearer ${OPERATOR_TOKEN}` };
  return status.parse(await (await fetch(`${from.url}/sites/${site}`, { headers })).json());
}

async function until(site: string, holds: (deliveries: DeliveryRecord[]) => boolean): Promise<DeliveryRecord[]> {
  let { deliveries } = await statusOf(site);
  for (let attempt = 0; attempt < 200 && !holds(deliveries); attempt += 1) {
    await sleep(150);
    ({ deliveries } = await statusOf(site));
  }
  expect(holds(deliveries) ? 'reached' : deliveries).toBe('reached');
  return deliveries;
}

type Push = { ref?: string; as?: string; event?: string; body?: object };

/** The delivery's id. */
async function deliver(site: string, { ref = 'refs/heads/main', as, event = 'push', body }: Push = {}) {
  const text = JSON.stringify(body ?? { ref, after: 'f00' });
  const signed = await signGithub({ secret: SECRET, body: text, path: '', at: new Date() }, event);
  const headers = as === undefined ? signed : { ...signed, 'x-github-delivery': as };
  const answer = await fetch(`${api.url}/webhooks/${site}/github`, { method: 'POST', headers, body: text });
  expect(answer.status).toBe(202);
  return headers['x-github-delivery'] ?? '';
}

const metrics = async (): Promise<string> => await (await fetch(`${api.url}/metrics`)).text();

describe('a delivery', () => {
  test('that nobody has looked at yet is listed as verified, and by every receiver once the workflow took it', async () => {
    const id = await deliver('early');
    const verified = { id, source: 'github', outcome: 'verified', workflowId: 'export:early', topic: 'push' };
    expect((await statusOf('early')).deliveries).toMatchObject([verified]);
    await withWorker(async () => {
      const [started, ...others] = await until('early', ([first]) => first?.outcome === 'started');
      expect(started).toEqual({ ...verified, outcome: 'started', at: expect.any(String) });
      expect(others).toEqual([]);
      const another = await startApi({ client: temporal.client, config });
      expect((await statusOf('early', another)).deliveries).toEqual([started]);
      await another.stop();
    });
  });

  test('of a burst starts its export or shares it, and a resend does neither', async () => {
    await withWorker(async () => {
      const first = await deliver('burst');
      const second = await deliver('burst');
      await deliver('burst', { as: first });
      const deliveries = await until('burst', (all) => all.length === 3 && all[0]?.outcome !== 'verified');
      expect(deliveries.map(({ id, outcome }) => [id, outcome])).toEqual([
        [first, 'duplicate'],
        [second, 'coalesced'],
        [first, 'started'],
      ]);
      expect(deliveries.every(({ workflowId, topic }) => workflowId === 'export:burst' && topic === 'push')).toBe(true);
    });
    const text = await metrics();
    expect(text).toContain('galley_webhook_deliveries_total{site="burst",source="github",outcome="accepted"} 3');
    expect(text).toContain('galley_webhook_repeats_total{site="burst",source="github"} 1');
  });

  test('that was filtered tells its topic and what kept it from publishing', async () => {
    await deliver('filtered', { ref: 'refs/heads/other' });
    await deliver('filtered', { event: 'ping', body: { zen: 'Keep it simple.' } });
    const body = JSON.stringify({ event: 'entry.update' });
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${SECRET}` };
    await fetch(`${api.url}/webhooks/filtered/token`, { method: 'POST', headers, body });
    const { deliveries } = await statusOf('filtered');
    expect(deliveries).toMatchObject([
      { source: 'token', outcome: 'filtered', topic: 'entry.update', why: expect.stringContaining('event') },
      { source: 'github', outcome: 'filtered', topic: 'ping', why: expect.any(String) },
      { source: 'github', outcome: 'filtered', topic: 'push', why: expect.stringContaining('main'), workflowId: null },
    ]);
  });

  test('of a pull request that no change waits for says so', async () => {
    const url = 'https://github.com/acme/docs/pull/7';
    const pull_request = { html_url: url, state: 'closed', merged: true, user: { login: 'bot' } };
    await deliver('pulls', { event: 'pull_request', body: { action: 'closed', pull_request } });
    expect((await statusOf('pulls')).deliveries).toMatchObject([
      { outcome: 'filtered', topic: 'pull-request', why: 'no agent change of this site waits for this pull request' },
    ]);
  });
});

describe('what is turned away', () => {
  const json = { 'content-type': 'application/json' };

  test('is counted by site, source and reason, for the operator and in the metrics', async () => {
    const send = async (source: string, headers: Record<string, string>, body = '{}', query = ''): Promise<number> =>
      (await fetch(`${api.url}/webhooks/refused/${source}${query}`, { method: 'POST', headers, body })).status;
    expect(await send('token', { ...json, authorization: 'Bearer not-the-secret' }, '{"body":"private"}')).toBe(401);
    expect(await send('token', { ...json, authorization: 'Bearer not-the-secret' }, '{}', '?key=in-the-query')).toBe(
      401,
    );
    expect(await send('github', json)).toBe(401);
    expect(await send('token', { authorization: `Bearer ${SECRET}`, 'content-type': 'text/plain' })).toBe(415);
    expect(await send('token', { ...json, authorization: `Bearer ${SECRET}` }, 'private but no JSON')).toBe(400);

    const { rejected, deliveries } = await statusOf('refused');
    expect(deliveries).toEqual([]);
    expect(rejected).toMatchObject([
      { source: 'token', reason: 'status-400', count: 1 },
      { source: 'token', reason: 'status-415', count: 1 },
      { source: 'github', reason: 'missing-header', count: 1 },
      { source: 'token', reason: 'bad-signature', count: 2 },
    ]);
    expect(await metrics()).toContain(
      'galley_webhook_rejects_total{site="refused",source="token",reason="bad-signature"} 2',
    );
    const lines = api.log.filter((line) => line.includes('was turned away') && line.includes('"refused"'));
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { source: 'token', reason: 'bad-signature', requestId: expect.any(String), msg: 'A delivery was turned away' },
      { source: 'token', reason: 'bad-signature' },
      { source: 'github', reason: 'missing-header' },
      { source: 'token', reason: 'status-415', detail: 'expected the content type application/json' },
      { source: 'token', reason: 'status-400', detail: 'expected JSON in UTF-8' },
    ]);
    expect(api.log.join('')).not.toMatch(/hush|not-the-secret|private|in-the-query/);
  });

  test('at an address that is not configured is logged with its names', async () => {
    const answer = await fetch(`${api.url}/webhooks/refusd/token?secret=x`, {
      method: 'POST',
      headers: json,
      body: '{}',
    });
    expect(answer.status).toBe(404);
    const line = api.log.find((each) => each.includes('refusd'));
    expect(JSON.parse(line ?? '{}')).toMatchObject({ site: 'refusd', source: 'token', reason: 'unknown-address' });
    expect(await metrics()).toContain('galley_webhook_rejects_total{site="any",source="any",reason="status-404"} 1');
  });
});
