import type { Client } from '@temporalio/client';
import { z } from 'zod';
import { READ_DEADLINE_MS } from '../../api/app.ts';
import { siteState } from '../../contract/site-state.ts';
import { createPayloadEncryption } from '../../programs/temporal/payload-encryption.ts';
import { runWorker } from '../helpers/run-worker.ts';
import { waitFor } from '../helpers/system/wait-for.ts';
import { OPERATOR_TOKEN, type RunningApi, startApi } from './running-api.ts';
import { type SitesFixture, startSites } from './sites-fixture.ts';
import { signGithub } from './sources/vendors/github.ts';

const SECRET = 'hush';
const JSON_TYPE = { 'content-type': 'application/json' };
const rejected = z.array(z.object({ source: z.string(), reason: z.string(), count: z.number() }));
const status = siteState.extend({ current: z.boolean(), rejected });
const page = z.object({ sites: z.array(status), nextCursor: z.string().nullable() });

let sites: SitesFixture;
let api: RunningApi;
let client: Client;

beforeAll(async () => {
  const webhooks = { github: { secret: SECRET }, token: { secret: SECRET, filters: { event: 'publish' } } };
  const names = ['apart', 'blog', 'burst', 'docs', 'refused'];
  // With payload encryption, because the progress must be readable then too.
  const dataConverter = { payloadCodecs: [createPayloadEncryption(Buffer.alloc(32, 7))] };
  sites = await startSites(Object.fromEntries(names.map((name) => [name, { webhooks }])), {
    dataConverter,
    searchAttributes: true,
    // As in the product. Without a worker, no workflow responds.
    readDeadlineMs: READ_DEADLINE_MS,
  });
  ({ api, client } = sites);
});

afterAll(() => sites.stop());

async function withWorker(work: () => Promise<void>): Promise<void> {
  const worker = runWorker(await sites.createWorker());
  try {
    await work();
  } finally {
    await worker.stop();
  }
}

/** Repeated if Temporal itself doesn't respond in time, which is a 503. */
const get = (path: string, from = api): Promise<unknown> =>
  waitFor(
    async () => {
      const response = await fetch(from.url + path, { headers: { authorization: `Bearer ${OPERATOR_TOKEN}` } });
      return response.status !== 503 && (await response.json());
    },
    { describe: `got ${path}` },
  );

const statusOf = async (site: string, from = api) => status.parse(await get(`/sites/${site}`, from));
const pageOf = async (query = '') => page.parse(await get(`/sites${query}`));

/** Waits for a state. `current` is true if the workflow itself reported it. */
async function until(site: string, holds: (state: z.infer<typeof status>) => boolean) {
  const probe = async () => {
    const state = await statusOf(site);
    if (holds(state)) return state;
    throw new Error(JSON.stringify(state));
  };
  return await waitFor(probe, { describe: 'reached the state' });
}

type Push = { ref?: string; as?: string; event?: string; body?: object };

/** Returns the delivery's id. */
async function push(site: string, { ref = 'refs/heads/main', as, event = 'push', body }: Push = {}): Promise<string> {
  const text = JSON.stringify(body ?? { ref, after: 'f00' });
  const signed = await signGithub({ secret: SECRET, body: text, path: '', at: new Date() }, event);
  const headers = as === undefined ? signed : { ...signed, 'x-github-delivery': as };
  const response = await fetch(`${api.url}/webhooks/${site}/github`, { method: 'POST', headers, body: text });
  expect(response.status).toBe(202);
  return headers['x-github-delivery'] ?? '';
}

const postToken = async (site: string, headers: Record<string, string>, body = '{}'): Promise<number> =>
  (await fetch(`${api.url}/webhooks/${site}/token`, { method: 'POST', headers, body })).status;

describe('a site', () => {
  test('that was never published is idle, and lists what was filtered with the reason', async () => {
    const id = await push('blog', { ref: 'refs/heads/other' });
    await push('blog', { event: 'ping', body: { zen: 'Keep it simple.' } });
    await postToken('blog', { ...JSON_TYPE, authorization: `Bearer ${SECRET}` }, '{"event":"entry.update"}');
    expect(await statusOf('blog')).toMatchObject({
      site: 'blog',
      phase: 'idle',
      jobId: null,
      lastError: null,
      deployments: [
        { name: sites.valuesFile('blog'), version: null, state: 'waiting', desired: { reason: 'nothing' } },
      ],
      deliveries: [
        { source: 'token', outcome: 'filtered', topic: 'entry.update', why: 'filters.event' },
        { source: 'github', outcome: 'filtered', topic: 'ping' },
        { id, outcome: 'filtered', topic: 'push', why: expect.stringContaining('main'), workflowId: null },
      ],
      progress: null,
      current: true,
    });
  });

  test('lists how many deliveries were rejected, and why', async () => {
    for (const _twice of [1, 2])
      expect(await postToken('refused', { ...JSON_TYPE, authorization: 'Bearer x' })).toBe(401);
    expect(await postToken('refused', { 'content-type': 'text/plain' })).toBe(415);
    expect(await statusOf('refused')).toMatchObject({
      deliveries: [],
      rejected: [
        { source: 'token', reason: 'status-415', count: 1 },
        { source: 'token', reason: 'bad-signature', count: 2 },
      ],
    });
  });

  test('lists a delivery as verified until its workflow reports it, then in every receiver', async () => {
    const first = await push('burst');
    const second = await push('burst');
    await push('burst', { as: first });
    const known = { source: 'github', topic: 'push', workflowId: 'export:burst' };
    expect((await statusOf('burst')).deliveries).toMatchObject([
      { ...known, id: first, outcome: 'verified' },
      { ...known, id: second, outcome: 'verified' },
    ]);
    await withWorker(async () => {
      const { deliveries } = await until('burst', ({ deliveries: [newest] }) => newest?.outcome === 'duplicate');
      expect(deliveries).toMatchObject([
        { ...known, id: first, outcome: 'duplicate' },
        { ...known, id: second, outcome: 'coalesced' },
        { ...known, id: first, outcome: 'started' },
      ]);
      const another = await startApi({ client, config: sites.config });
      const inAnother = await waitFor(async () => (await statusOf('burst', another)).deliveries.at(2), {
        describe: 'listed the deliveries',
      });
      expect(inAnother).toMatchObject({ id: first, outcome: 'started' });
      await another.stop();
    });
  });

  test('reports progress during its export, its version when live, and the state stored in Temporal without a worker', async () => {
    sites.adminApi.behaviour.jobDurationMs = 3_600_000;
    let live: z.infer<typeof status> | undefined;
    await withWorker(async () => {
      const published = await push('docs');
      const filtered = await push('docs', { ref: 'refs/heads/other' });
      const exporting = await until('docs', ({ progress, current }) => progress !== null && current);
      expect(exporting).toMatchObject({ phase: 'exporting', progress: { percent: 50, pageCount: 7 } });
      expect(exporting.deliveries).toMatchObject([
        { id: filtered, outcome: 'filtered' },
        { id: published, outcome: 'started', workflowId: 'export:docs' },
      ]);
      sites.adminApi.behaviour.jobDurationMs = 0;
      live = await until('docs', ({ phase, current }) => phase === 'live' && current);
      expect(live).toMatchObject({ version: expect.stringMatching(/^v\d/), progress: null });
      expect(live.deployments).toMatchObject([{ name: sites.valuesFile('docs'), version: live.version }]);
      const listed = async () =>
        (await pageOf()).sites.find(({ site, current, phase }) => site === 'docs' && current && phase === 'live');
      expect(await waitFor(listed, { describe: 'listed the live state' })).toMatchObject({
        phase: 'live',
        exportedAt: expect.any(String),
        deliveries: expect.arrayContaining([expect.objectContaining({ outcome: 'started' })]),
      });
    });

    // Visibility is updated a moment later.
    const recorded = await until('docs', ({ current, phase }) => !current && phase === 'live');
    expect(recorded.version).toBe(live?.version);
    expect(Math.abs(Date.parse(recorded.linkExpiresAt ?? '') - Date.parse(live?.linkExpiresAt ?? ''))).toBeLessThan(1);
  });

  test('whose workflow was terminated is idle', async () => {
    await push('apart');
    await client.workflow.getHandle('export:apart').terminate('shown by a test');
    expect(await until('apart', ({ current }) => current)).toMatchObject({ phase: 'idle' });
  });
});

test('the list of sites comes in pages, sorted by name, with the phase that Temporal stores', async () => {
  const first = await pageOf('?limit=3');
  expect([first.sites.map(({ site }) => site), first.nextCursor]).toEqual([['apart', 'blog', 'burst'], 'burst']);
  // Temporal's list is a little late.
  const isLive = async () => (await pageOf()).sites.some(({ site, phase }) => site === 'docs' && phase === 'live');
  await waitFor(isLive, { describe: 'listed the phase' });
  const second = await pageOf(`?limit=3&cursor=${first.nextCursor}`);
  expect(second.sites.map(({ site, phase }) => [site, phase])).toEqual([
    ['docs', 'live'],
    ['refused', 'idle'],
  ]);
  expect(second.nextCursor).toBeNull();
  expect(await pageOf('?cursor=zzz')).toEqual({ sites: [], nextCursor: null });
});
