import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { FilteredDeliveries } from '../../../api/filtered-deliveries.ts';
import type { GalleyConfig } from '../../../contract/galley-config.ts';
import { runWorker } from '../../helpers/run-worker.ts';
import { waitFor } from '../../helpers/system/wait-for.ts';
import { type Browser, formsOf, openBrowser } from '../../platform/dashboard/browser.ts';
import { configWith, OPERATOR_TOKEN, type RunningApi, startApi } from '../running-api.ts';
import { type SitesFixture, startSites } from '../sites-fixture.ts';

const PAGE = '/ui/sites/docs';
const AGAIN = `${PAGE}/run-again`;
const webhooks = (event: string) => ({ token: { secret: 'hush', filters: { event } } });

let sites: SitesFixture;
let worker: { stop(): Promise<void> };
let folder: string;
let api: RunningApi | undefined;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'galley-filtered-'));
  sites = await startSites({ docs: { webhooks: webhooks('entry.publish') } });
  worker = runWorker(await sites.createWorker());
});
afterAll(async () => {
  await api?.stop();
  await worker?.stop();
  await sites?.stop();
  await rm(folder, { recursive: true, force: true });
});

/** An api with this configuration, in place of the one before, and a browser that has signed in. */
async function restart(config: GalleyConfig): Promise<{ url: string; browser: Browser }> {
  await api?.stop();
  const filtered = new FilteredDeliveries({ folder, maxBytes: 1_000_000, logger: pino({ level: 'silent' }) });
  await filtered.restore();
  api = await startApi({ client: sites.client, config, filtered });
  const browser = openBrowser(api.url);
  expect((await browser.post('/ui/sign-in', { name: 'Ada', token: OPERATOR_TOKEN })).status).toBe(303);
  return { url: api.url, browser };
}

it('a filtered delivery is listed with its reason, and a button runs it again once the filter is fixed', async () => {
  const before = await restart(configWith({ docs: { webhooks: webhooks('entry.pulbish') } }));
  const headers = { authorization: 'Bearer hush', 'content-type': 'application/json' };
  const body = JSON.stringify({ event: 'entry.publish', title: 'A page' });
  const delivered = await fetch(`${before.url}/webhooks/docs/token`, { method: 'POST', headers, body });
  expect([delivered.status, await delivered.json()]).toMatchObject([202, { accepted: [] }]);

  const listed = async (browser: Browser) => {
    const { text } = await browser.get(`${PAGE}/list/filtered`);
    const row = /Filtered deliveries of token.*?<tbody>(.*?)<\/tbody>/s.exec(text)?.[1] ?? '';
    return row.replaceAll(/<[^>]+>/g, ' ').replaceAll(/\s+/g, ' ');
  };
  await waitFor(async () => (await listed(before.browser)) !== '', { describe: 'listed' });
  expect(await listed(before.browser)).toMatch(/token entry\.publish filters\.event Run again/);
  const early = await before.browser.submit(PAGE, AGAIN);
  expect([early.status, early.text]).toEqual([409, expect.stringContaining('still filtered (filters.event)')]);

  const { url, browser } = await restart(sites.config);
  expect(await listed(browser)).toContain('filters.event');
  const form = formsOf((await browser.get(PAGE)).text).find(({ action }) => action === AGAIN);
  const { delivery = '', ...csrf } = form?.hidden ?? {};
  const fromElsewhere = { origin: 'https://other.example' };
  expect((await browser.post(AGAIN, { delivery })).status).toBe(403);
  expect((await browser.post(AGAIN, { delivery, ...csrf }, fromElsewhere)).status).toBe(403);
  const stranger = await openBrowser(url).post(AGAIN, { delivery, ...csrf });
  expect([stranger.status, stranger.location]).toEqual([303, expect.stringMatching(/^\/ui\/sign-in/)]);
  expect(sites.adminApi.jobs).toEqual([]);

  const pressed = await browser.submit(PAGE, AGAIN);
  expect([pressed.status, pressed.location]).toEqual([303, `${PAGE}?done=run-again`]);
  expect((await browser.get(`${PAGE}?done=run-again`)).text).not.toContain('Filtered deliveries');
  await waitFor(async () => (await browser.get(PAGE)).text.includes('>Live<'), { describe: 'exported' });
  const { text } = await browser.get(PAGE);
  expect(text).toMatch(/A page.*What operators did.*Ada.*Run again/s);
  expect(sites.adminApi.jobs).toHaveLength(1);
  // The page of another tab: the delivery is no longer kept, and exports the site like any other of the list.
  expect((await browser.post(AGAIN, { delivery, ...csrf })).status).toBe(303);
});
