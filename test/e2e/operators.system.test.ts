import { readFile, writeFile } from 'node:fs/promises';
import type { WorkflowHandle } from '@temporalio/client';
import { parse } from 'yaml';
import type { SiteState } from '../../contract/site-state.ts';
import { valuesFile } from '../../contract/values-file.ts';
import type { SiteSetup } from '../helpers/system/orchestrator.ts';
import { scenarios } from '../helpers/system/scenario.ts';
import { domainOf, edition, SLOW_PAGE, type System, startSystem } from '../helpers/system/system.ts';
import { waitFor } from '../helpers/system/wait-for.ts';

const quick = { quietPeriod: '200ms', maxWait: '2s', refreshMargin: '50%' };
const SITES = {
  pinned: quick,
  rolled: quick,
  replaced: { ...quick, whenBusy: 'cancel', maxWait: '10m' },
  shared: quick,
  changed: { ...quick, quietPeriod: '1h', maxWait: '1h' },
  removed: quick,
};

describe('an operator of the whole product', () => {
  let system: System;
  const scenario = scenarios(() => system);

  beforeAll(async () => {
    system = await startSystem({
      sites: SITES,
      variables: { BUNDLE_LINK_TTL: '16s', MIN_REFRESH_INTERVAL: '1s' },
    });
    await system.programs.double('worker');
    await system.programs.double('platform-worker');
  });

  afterAll(async () => {
    await system?.stop();
  });

  const link = async (site: string): Promise<string> => {
    const values = valuesFile.parse(parse(await readFile(system.valuesFile(site), 'utf8')));
    return values.staticExport?.bundleUrl ?? '';
  };

  /** Puts an edition on the origin and publishes it; returns once the platform has its completed job. */
  const publish = async (site: string, text: string): Promise<{ jobId: string; version: string }> => {
    const before = (await system.jobs(site)).length;
    system.origin(site).put('/', edition(text));
    expect((await system.publish(site)).status).toBe(202);
    return await waitFor(
      async () => {
        const [newest, ...older] = await system.jobs(site);
        return newest?.status === 'completed' && older.length === before && newest;
      },
      { describe: `exported ${text}` },
    );
  };

  const published = async (site: string, text: string): Promise<{ jobId: string; version: string }> => {
    const job = await publish(site, text);
    await system.untilServed(site, text);
    await system.untilPhase(site, 'live');
    return job;
  };

  const workflow = (site: string): WorkflowHandle => system.temporal.client.workflow.getHandle(`export:${site}`);

  const untilDeployed = async (
    site: string,
    phase: SiteState['phase'],
    wanted: Partial<SiteState['deployments'][number]>,
  ): Promise<void> => {
    await waitFor(
      async () => {
        const state = await system.state(site);
        expect(state).toMatchObject({ phase, lastError: null, deployments: [{ ...wanted, error: null }] });
        return true;
      },
      { describe: `was ${phase} with ${JSON.stringify(wanted)}` },
    );
  };

  /** Waits until another link stands in the values file, and returns what it leads to. */
  const freshLink = async (site: string): Promise<{ path: string; status: number }> => {
    const before = await link(site);
    const fresh = await waitFor(async () => (await link(site)) !== before && (await link(site)), {
      describe: 'refreshed the link',
    });
    const { status } = await fetch(fresh, { headers: { range: 'bytes=0-0' } });
    return { path: new URL(fresh).pathname, status };
  };

  scenario('who pins an older version keeps it, its link fresh, until the pin goes and the newest comes', async () => {
    const pin = async (version: string | null): Promise<void> => {
      const text = (await readFile(system.valuesFile('pinned'), 'utf8')).replace(/\n {2}version: .*/, '');
      const line = version === null ? '' : `\n  version: "${version}"`;
      await writeFile(system.valuesFile('pinned'), text.replace('\nstaticExport:', `\nstaticExport:${line}`));
    };
    const first = await published('pinned', 'edition 1');
    expect(new URL(await link('pinned')).host).toBe(`localhost:${new URL(system.platform.url).port}`);
    const bytesOfFirst = new URL(await link('pinned')).pathname;
    await published('pinned', 'edition 2');

    await pin(first.version);
    await system.untilServed('pinned', 'edition 1');
    await untilDeployed('pinned', 'held', { jobId: first.jobId, version: first.version, held: true });
    const third = await publish('pinned', 'edition 3');
    for (let refresh = 1; refresh <= 2; refresh += 1) {
      expect(await freshLink('pinned')).toEqual({ path: bytesOfFirst, status: 206 });
    }
    expect(await system.served('pinned')).toContain('edition 1');
    expect(await system.state('pinned')).toMatchObject({ phase: 'held', version: third.version });
    expect(await readFile(system.valuesFile('pinned'), 'utf8')).toContain(`\n  version: "${first.version}"`);

    await pin(null);
    await system.untilServed('pinned', 'edition 3');
    await untilDeployed('pinned', 'live', { jobId: third.jobId, version: third.version, held: false });
  });

  scenario(
    'who rolls back sees the earlier version served, and its link refreshed, until the next publish',
    async () => {
      const first = await published('rolled', 'edition 1');
      const bytesOfFirst = new URL(await link('rolled')).pathname;
      await published('rolled', 'edition 2');

      await workflow('rolled').executeUpdate('rollback', { args: [first.jobId] });
      await system.untilServed('rolled', 'edition 1');
      expect(await system.state('rolled')).toMatchObject({ jobId: first.jobId, version: first.version });
      expect(await freshLink('rolled')).toEqual({ path: bytesOfFirst, status: 206 });
      await workflow('rolled').executeUpdate('refreshNow');
      expect(await system.served('rolled')).toContain('edition 1');

      await published('rolled', 'edition 3');
    },
  );

  scenario('who chose whenBusy: cancel has a running export replaced by a newer publish', async () => {
    const origin = system.origin('replaced');
    const held = origin.hold(SLOW_PAGE);
    await system.publish('replaced');
    await waitFor(() => held.arrivals > 0, { describe: 'crawled the held page' });
    const told = async (): Promise<boolean> => (await system.state('replaced')).progress !== null;
    await waitFor(told, { describe: 'told the progress of the export' });
    origin.put('/', edition('edition 2'));
    await system.publish('replaced');
    await waitFor(async () => (await system.jobs('replaced')).length === 2, { describe: 'started another export' });
    held.open();
    await system.untilServed('replaced', 'edition 2');
    const [newest, oldest, ...others] = await system.jobs('replaced');
    expect([newest?.status, oldest?.status, oldest?.error, others]).toEqual(['completed', 'failed', 'cancelled', []]);
    expect(await system.untilPhase('replaced', 'live')).toMatchObject({ jobId: newest?.jobId, lastError: null });
  });

  scenario('who runs two of each worker loses nothing when one of each dies for good', async () => {
    const origin = system.origin('shared');
    await published('shared', 'edition 1');
    const slow = origin.hold(SLOW_PAGE);
    origin.put('/', edition('edition 2'));
    await system.publish('shared');
    await waitFor(() => slow.arrivals > 0, { describe: 'crawled the held page' });
    await system.programs.kill('worker');
    await system.programs.kill('platform-worker');
    slow.open();
    await system.untilServed('shared', 'edition 2');
    expect((await system.jobs('shared')).map(({ status }) => status)).toEqual(['completed', 'completed']);
    await system.programs.restart('worker');
    await system.programs.restart('platform-worker');
  });

  scenario(
    'who changes galley.yaml sees it kept to after a restart, by sites that run and by sites that go',
    async () => {
      await published('removed', 'edition 1');
      await workflow('removed').executeUpdate('pause');
      const setups: SiteSetup[] = Object.entries(SITES).map(([name, settings]) => {
        return { name, domain: domainOf(name), export: settings };
      });
      await system.publish('changed');
      await system.untilPhase('changed', 'debouncing');
      const values = await readFile(system.valuesFile('removed'), 'utf8');
      await system.configure(
        setups
          .filter(({ name }) => name !== 'removed')
          .map((setup) => (setup.name === 'changed' ? { ...setup, export: quick } : setup)),
      );
      for (const name of ['worker', 'worker-2', 'api']) await system.programs.restart(name);

      await system.untilServed('changed', 'edition 1');
      const gone = system.temporal.client.workflow.getHandle('export:removed');
      await waitFor(async () => (await gone.describe()).status.name === 'COMPLETED', {
        describe: 'ended the workflow',
      });
      expect((await system.publish('removed')).status).toBe(404);
      expect(await readFile(system.valuesFile('removed'), 'utf8')).toContain(values.slice(0, 40));
      expect(await system.served('removed')).toContain('edition 1');
      expect(await system.jobs('removed')).toHaveLength(1);
      const kept = system.temporal.client.workflow.getHandle('export:rolled');
      expect((await kept.describe()).status.name).toBe('RUNNING');

      await system.configure(setups);
      for (const name of ['worker', 'worker-2', 'api']) await system.programs.restart(name);
      await published('removed', 'edition back');
    },
  );
});
