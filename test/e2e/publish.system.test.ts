import { readFile } from 'node:fs/promises';
import { parse } from 'yaml';
import { valuesFile } from '../../contract/values-file.ts';
import type { SiteSetup } from '../helpers/system/orchestrator.ts';
import { scenarios } from '../helpers/system/scenario.ts';
import { domainOf, edition, SLOW_PAGE, type System, startSystem } from '../helpers/system/system.ts';
import { waitFor } from '../helpers/system/wait-for.ts';

const quick = { quietPeriod: '200ms', maxWait: '2s', refreshMargin: '50%' };
const SITES = {
  handbook: quick,
  shared: quick,
  changed: { ...quick, quietPeriod: '1h', maxWait: '1h' },
  removed: quick,
};

describe('a publish on the whole product in separate processes', () => {
  let system: System;
  const scenario = scenarios(() => system);

  beforeAll(async () => {
    system = await startSystem({
      sites: SITES,
      variables: { BUNDLE_LINK_TTL: '24s', MIN_REFRESH_INTERVAL: '1s' },
    });
  });

  afterAll(() => system?.stop());

  const link = async (site: string): Promise<string> => {
    const values = valuesFile.parse(parse(await readFile(system.valuesFile(site), 'utf8')));
    return values.staticExport?.bundleUrl ?? '';
  };

  /** Puts an edition on the origin, publishes it and waits until it is served. */
  const published = async (site: string, text: string): Promise<void> => {
    system.origin(site).put('/', edition(text));
    expect((await system.publish(site)).status).toBe(202);
    await system.untilServed(site, text);
    await system.untilPhase(site, 'live');
  };

  scenario('leads to a new deployed version each time', async () => {
    const response = await system.publish('handbook');
    expect([response.status, await response.json()]).toEqual([
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

  scenario('is exported by the second worker if the first one is killed', async () => {
    await system.programs.double('worker');
    await system.programs.double('platform-worker');
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

  scenario('follows a changed galley.yaml after a restart, and a site ends only when it is removed', async () => {
    await published('removed', 'edition 1');
    const workflow = (site: string) => system.temporal.client.workflow.getHandle(`export:${site}`);
    const setups: SiteSetup[] = Object.entries(SITES).map(([name, settings]) => {
      return { name, domain: domainOf(name), export: settings };
    });
    await system.publish('changed');
    await system.untilPhase('changed', 'debouncing');
    await system.configure(
      setups
        .filter(({ name }) => name !== 'removed')
        .map((setup) => (setup.name === 'changed' ? { ...setup, export: quick } : setup)),
    );
    for (const name of ['worker', 'worker-2', 'api']) await system.programs.restart(name);

    // The start of a worker doesn't wake a site, so this one is signaled.
    await workflow('changed').signal('configChanged');
    await system.untilServed('changed', 'edition 1');
    expect((await system.publish('removed')).status).toBe(404);
    // The site no longer has settings with which its link could be refreshed.
    await system.untilPhase('removed', 'unconfigured');
    expect(await system.served('removed')).toContain('edition 1');
    expect((await system.remove('removed')).status).toBe(200);
    // The workflow ends shortly after the response.
    await workflow('removed').result();
    expect((await workflow('handbook').describe()).status.name).toBe('RUNNING');

    await system.configure(setups);
    for (const name of ['worker', 'worker-2', 'api']) await system.programs.restart(name);
    await published('removed', 'edition back');
  });

  scenario('reports a revoked key and continues with a new one', async () => {
    // This worker would keep using the old key.
    await system.programs.end('worker-2');
    const { jobId } = await system.state('handbook');
    const before = await link('handbook');
    await system.platform.revokeKey(system.key.id);
    const state = await waitFor(
      async () => {
        const found = await system.state('handbook');
        return found.lastError?.status === 401 && found;
      },
      { describe: 'reported the rejected key' },
    );
    expect(state.jobId).toBe(jobId);
    const handle = system.temporal.client.workflow.getHandle('export:handbook');
    expect(JSON.stringify(await handle.query('__temporal_workflow_metadata'))).toContain('401');
    const { key } = await system.platform.createKey();
    await system.programs.restart('worker', { ADMIN_API_KEY: key });
    await waitFor(async () => (await link('handbook')) !== before, { describe: 'refreshed the old link' });
    expect(await system.state('handbook')).toMatchObject({ jobId });
    await waitFor(async () => (await system.state('handbook')).lastError === null, { describe: 'cleared the error' });
  });
});
