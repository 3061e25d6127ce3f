import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { parse } from 'yaml';
import { valuesFile } from '../../contract/values-file.ts';
import { allowedMs, OVERDUE_TIMER_MS } from '../helpers/allowed-ms.ts';
import { scenarios } from '../helpers/system/scenario.ts';
import { edition, SLOW_PAGE, type System, startSystem } from '../helpers/system/system.ts';
import { waitFor } from '../helpers/system/wait-for.ts';

/** A link lives this long, and is refreshed at about half of it. */
const LINK_TTL_MS = 24_000;

const BUNDLE = { method: 'POST', path: /\/bundle$/ } as const;

describe('a publish on the whole product, each part a process of its own', () => {
  let system: System;
  const scenario = scenarios(() => system);

  beforeAll(async () => {
    const settings = { quietPeriod: '200ms', maxWait: '2s', refreshMargin: '50%' };
    system = await startSystem({
      sites: { handbook: settings, busy: settings },
      variables: { BUNDLE_LINK_TTL: `${LINK_TTL_MS / 1000}s`, MIN_REFRESH_INTERVAL: '1s' },
    });
  });

  afterAll(async () => {
    await system?.stop();
  });

  const link = async (site: string): Promise<string> => {
    const values = valuesFile.parse(parse(await readFile(system.valuesFile(site), 'utf8')));
    return values.staticExport?.bundleUrl ?? '';
  };

  scenario('makes a fresh deployment, and the next one another', async () => {
    const answer = await system.publish('handbook');
    expect([answer.status, await answer.json()]).toEqual([
      202,
      { deliveryId: expect.any(String), accepted: ['export:handbook'] },
    ]);
    await system.untilServed('handbook', 'edition 1');
    expect(await system.served('handbook', SLOW_PAGE)).toContain('200 <!doctype html>');

    system.origin('handbook').put('/', edition('edition 2'));
    await system.publish('handbook');
    await system.untilServed('handbook', 'edition 2');

    const [newest, ...older] = await system.jobs('handbook');
    expect(older).toHaveLength(1);
    expect(newest).toMatchObject({ status: 'completed', progress: 100, pageCount: 2 });
    const state = await system.untilPhase('handbook', 'live');
    expect(state).toMatchObject({ jobId: newest?.jobId, version: newest?.version, lastError: null });
  });

  scenario('leaves a link that is refreshed for ever and never found expired', async () => {
    const first = await link('handbook');
    const links = new Set<string>();
    const refused: number[] = [];
    // The first byte is enough to know whether a link opens.
    const open = async (url: string): Promise<number> => (await fetch(url, { headers: { range: 'bytes=0-0' } })).status;
    await waitFor(
      async () => {
        const current = await link('handbook');
        const status = await open(current);
        if (status !== 206) refused.push(status);
        links.add(current);
        return links.size > 3;
      },
      { describe: 'refreshed the link three times', everyMs: 200 },
    );
    expect(refused).toEqual([]);
    await waitFor(async () => (await open(first)) === 403, { describe: 'refused a link that was left to expire' });
    expect(await system.jobs('handbook')).toHaveLength(2);
  });

  scenario('refreshes within 5 s of a restart what fell due while no worker ran', async () => {
    // Just refreshed: the worker must be gone before the next one is due.
    const dueAtMs = await waitFor(
      async () => {
        const { nextRefreshAt } = await system.state('handbook');
        const dueAt = Date.parse(nextRefreshAt ?? '');
        return dueAt - Date.now() > LINK_TTL_MS / 3 && dueAt;
      },
      { describe: 'refreshed a moment ago', everyMs: 200 },
    );
    const before = await link('handbook');
    await system.programs.kill('worker');
    await sleep(Math.max(dueAtMs - Date.now(), 0) + 500);
    const asked = system.proxy.matching(BUNDLE).length;

    const { readyAtMs } = await system.programs.restart('worker');
    const refresh = await waitFor(() => system.proxy.matching(BUNDLE)[asked], {
      describe: 'refreshed after the restart',
    });
    expect(refresh.atMs - readyAtMs).toBeLessThanOrEqual(allowedMs(OVERDUE_TIMER_MS));
    await waitFor(async () => (await link('handbook')) !== before, { describe: 'wrote the fresh link' });
  });

  scenario('is exported afterwards when it comes during an export', async () => {
    const origin = system.origin('busy');
    const held = origin.hold(SLOW_PAGE);
    await system.publish('busy');
    await waitFor(() => held.arrivals > 0, { describe: 'crawled the held page' });
    // The start page was read already: only another export can have this.
    origin.put('/', edition('edition 2'));
    await system.publish('busy');
    held.open();
    await system.untilServed('busy', 'edition 2');
    expect(await system.jobs('busy')).toHaveLength(2);
  });

  scenario('shows a revoked key without hammering the Admin API, and goes on with a new one', async () => {
    const { jobId } = await system.state('handbook');
    const before = await link('handbook');
    await system.platform.revokeKey(system.key.id);
    const state = await waitFor(
      async () => {
        const found = await system.state('handbook');
        return found.lastError?.status === 401 && found;
      },
      { describe: 'told that the key is refused' },
    );
    expect(state.jobId).toBe(jobId);
    const handle = system.temporal.client.workflow.getHandle('export:handbook');
    expect(JSON.stringify(await handle.query('__temporal_workflow_metadata'))).toContain('401');
    const refusals = await waitFor(
      () => {
        const { requests } = system.proxy;
        const refused = requests.filter(({ status, path }) => status === 401 && path.includes(`${jobId}`));
        return refused.length > 2 && refused;
      },
      { describe: 'tried the refused key again while the link is due' },
    );
    // Every 5 to 60 s, says the contract; timers are never early, but the first answer may have been slow.
    const pausesMs = refusals.slice(1).map(({ atMs }, index) => atMs - (refusals[index]?.atMs ?? 0));
    expect(Math.min(...pausesMs)).toBeGreaterThan(4_000);

    const { key } = await system.platform.createKey();
    await system.programs.restart('worker', { ADMIN_API_KEY: key });
    await waitFor(async () => (await link('handbook')) !== before, { describe: 'refreshed the old link' });
    expect(await system.state('handbook')).toMatchObject({ jobId });
    await waitFor(async () => (await system.state('handbook')).lastError === null, { describe: 'forgot the refusal' });
  });
});
