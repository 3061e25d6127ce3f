import type { Client } from '@temporalio/client';
import { QUERIES, START_GATE } from '../../contract/names.ts';
import type { SiteState } from '../../contract/site-state.ts';
import { type StartPlace, startQueue } from '../../contract/start-gate.ts';
import { configWith, OPERATOR_TOKEN, startApi } from '../api/running-api.ts';
import { galleyHere } from '../helpers/galley.ts';
import { waitFor } from '../helpers/system/wait-for.ts';
import { openBrowser } from '../platform/dashboard/browser.ts';
import type { SiteFixture } from './site-fixture.ts';
import { useSites } from './use-sites.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const SLACK_MS = 3 * MINUTE_MS;

/** Its history is replayed at the end of the file, too. */
function gateOf(client: Client) {
  const handle = client.workflow.getHandle(START_GATE);
  return {
    places: async () => startQueue.parse(await handle.query(QUERIES.queue)),
    workflowIds: () => [START_GATE],
    close: async () => void (await handle.terminate()),
  };
}

/** That the state over HTTP, the page and the command line say the same place. */
async function expectShown(client: Client, site: string, place: StartPlace | undefined): Promise<void> {
  if (!place?.aboutAt) throw new Error(`${site} has no place`);
  const words = `number ${place.number} of ${place.of}, about ${place.aboutAt.slice(11, 16)} UTC`;
  const api = await startApi({ client, config: configWith({ [site]: {} }) });
  try {
    const headers = { authorization: `Bearer ${OPERATOR_TOKEN}` };
    const state = await (await fetch(`${api.url}/sites/${site}`, { headers })).json();
    expect(state).toMatchObject({ phase: 'waiting', startPlace: place });

    const browser = openBrowser(api.url);
    await browser.post('/ui/sign-in', { name: 'Ada', token: OPERATOR_TOKEN });
    const { text } = await browser.get(`/ui/sites/${site}`);
    expect(text).toContain(`<dt>Start</dt><dd>${words}</dd>`);

    const cli = async (...args: string[]) =>
      (await galleyHere(['sites', ...args, '--url', api.url], { OPERATOR_TOKEN })).stdout.replaceAll(/\s+/g, ' ');
    expect(await cli('status', site)).toContain(`start ${words} `);
    expect(await cli('list')).toContain(`${site} waiting for the limit ${words}`);
  } finally {
    await api.stop();
  }
}

const startedAt = (site: SiteFixture): number => site.api.jobs[0]?.startedAtMs ?? Number.NaN;

describe('with a limit of galley.yaml', () => {
  const { startSite, server, closeLater } = useSites('time-skipping', () => ({ startsPerHour: 2 }));

  it('the sites that wait longest start first, and a burst uses one start', async () => {
    const gate = closeLater(gateOf(server().client));
    const sites: SiteFixture[] = [];
    for (let count = 0; count < 4; count++) sites.push(await startSite({ quietPeriod: '1s' }));
    const [first, second, third, fourth] = sites;
    if (!first || !second || !third || !fourth) throw new Error('four sites');
    for (const site of sites) {
      await site.publish();
      await server().sleep(2 * MINUTE_MS);
    }
    await first.until('live', ({ phase }) => phase === 'live');
    await second.until('live', ({ phase }) => phase === 'live');
    const waiting = await third.until('waiting', ({ phase }) => phase === 'waiting');
    expect(waiting.oldestUnserved?.reason).toBe('waiting');
    await fourth.until('waiting', ({ phase }) => phase === 'waiting');
    const places = await gate.places();
    expect([places[third.site]?.number, places[fourth.site]?.number]).toEqual([1, 2]);

    // Published while it waits: part of the same export.
    await third.publish();
    await server().sleep(2 * HOUR_MS);
    await fourth.until('live', ({ phase }) => phase === 'live');
    expect(sites.map(({ api }) => api.jobs.length)).toEqual([1, 1, 1, 1]);
    for (const [later, earlier] of [
      [third, first],
      [fourth, second],
    ] as const) {
      expect(startedAt(later) - startedAt(earlier)).toBeGreaterThanOrEqual(HOUR_MS - SLACK_MS);
      expect(startedAt(later) - startedAt(earlier)).toBeLessThan(HOUR_MS + SLACK_MS);
    }
  });
});

describe('with a limit, after a restart of the worker', () => {
  const { startSite, server, closeLater } = useSites('dev-server', () => ({ startsPerHour: 1 }));

  it('each site keeps its place, which state, page and command say, and the starts of the last hour count', async () => {
    const gate = closeLater(gateOf(server().client));
    const [first, second, third] = [await startSite(), await startSite(), await startSite()];
    const waits = ({ phase }: SiteState): boolean => phase === 'waiting';
    await first.publish();
    await first.until('live', ({ phase }) => phase === 'live');
    for (const site of [second, third]) {
      await site.publish();
      await site.until('waiting', waits);
    }
    // Its request may still be on its way to the gate.
    await waitFor(async () => third.site in (await gate.places()), { describe: 'asked the gate' });
    const places = await gate.places();
    expect([places[second.site]?.number, places[third.site]?.number]).toEqual([1, 2]);
    await expectShown(server().client, third.site, places[third.site]);

    await first.stopWorker();
    // Asks for its start again, with nothing in the worker's memory.
    await third.publish();
    await first.startWorker();
    await third.until('two publishes', ({ pendingCount }) => pendingCount === 2);
    expect(await gate.places()).toEqual(places);
    expect([second.api.jobs.length, third.api.jobs.length]).toEqual([0, 0]);
  });
});

describe('without a known limit', () => {
  const { startSite, server, closeLater } = useSites('time-skipping');

  it('a 429 without Retry-After teaches a site that starts are limited, and it waits for the gate', async () => {
    closeLater(gateOf(server().client));
    const site = await startSite({ quietPeriod: '1s' });
    let left = 1;
    site.api.behaviour.intercept = ({ method, path }) =>
      method === 'POST' && path === '/v1/static-export/jobs' && left-- > 0 ? { status: 429 } : undefined;
    await site.publish();
    await site.until('waiting', ({ phase }) => phase === 'waiting');
    const calls = site.api.calls.length;
    await server().sleep(5 * MINUTE_MS);
    expect(site.api.calls).toHaveLength(calls);
    await server().sleep(10 * MINUTE_MS);
    await site.until('live', ({ phase }) => phase === 'live');
    expect(site.api.jobs).toHaveLength(1);
  });
});
