import { readFile, writeFile } from 'node:fs/promises';
import { SEARCH_ATTRIBUTES } from '../../contract/names.ts';
import { waitFor } from '../helpers/system/wait-for.ts';
import type { SiteFixture } from './site-fixture.ts';
import { useSites } from './use-sites.ts';

const { startSite } = useSites('dev-server', () => ({ searchAttributes: true }));

/** Exports once more, and returns the job. */
async function exportContent(site: SiteFixture, content: number): Promise<string> {
  const jobs = site.api.jobs.length + 1;
  site.api.behaviour.content = content;
  await site.publish();
  const isServed = ({ phase }: { phase: string }) => ['live', 'held'].includes(phase) && site.api.jobs.length === jobs;
  const { jobId } = await site.until(`live with ${content}`, isServed);
  if (jobId === null) throw new Error('a live site has no job');
  return jobId;
}

async function pin(site: SiteFixture, version: string | null): Promise<void> {
  const text = (await readFile(site.valuesFile, 'utf8')).replace(/\n {2}version:.*/, '');
  await writeFile(site.valuesFile, version ? text.replace('  enabled:', `  version: ${version}\n  enabled:`) : text);
}

// These tests run at the same time, because they spend nearly all of it waiting. The longest comes first.
describe('a site', () => {
  it.concurrent("is held at an operator's pin with a fresh link, and serves the newest version when the pin goes", async () => {
    const site = await startSite();
    site.api.behaviour.linkLifetimeMs = 4_000;
    const first = await exportContent(site, 1);
    await pin(site, 'v1');
    const second = await exportContent(site, 2);
    const held = await site.until('held', ({ phase }) => phase === 'held');
    expect(held.deployments[0]).toMatchObject({ jobId: first, version: 'v1', held: true });
    const before = await site.deployed();
    // From now on no refresh is due that could notice the pin's end.
    site.api.behaviour.linkLifetimeMs = 3_600_000;
    await site.until(
      'refreshed',
      (state) => Date.parse(state.linkExpiresAt ?? '') > (before?.expiresAtMs ?? 0) + 60_000,
    );
    expect((await site.deployed())?.jobId).toBe(first);
    await pin(site, null);
    await site.until('live', ({ phase, deployments }) => phase === 'live' && deployments[0]?.jobId === second);
    expect((await site.deployed())?.content).toBe(2);
  });

  it.concurrent('is exported, bundled and deployed, its link is refreshed, and the UI shows it', async () => {
    const site = await startSite();
    site.api.behaviour.linkLifetimeMs = 4_000;
    const jobId = await exportContent(site, 1);
    const first = await site.deployed();
    expect(first?.jobId).toBe(jobId);
    site.api.behaviour.linkLifetimeMs = 3_600_000;
    const expiresAtMs = async () => (await site.deployed())?.expiresAtMs ?? 0;
    await waitFor(async () => (await expiresAtMs()) > (first?.expiresAtMs ?? 0), { describe: 'got a fresher link' });
    expect(site.api.jobs).toHaveLength(1);
    const isShown = async () => {
      const { searchAttributes } = await site.handle.describe();
      expect(searchAttributes).toMatchObject({
        [SEARCH_ATTRIBUTES.site]: [site.site],
        [SEARCH_ATTRIBUTES.phase]: ['live'],
        [SEARCH_ATTRIBUTES.version]: ['v1'],
        [SEARCH_ATTRIBUTES.linkExpiresAt]: [new Date(await expiresAtMs())],
      });
      expect(JSON.stringify(await site.handle.query('__temporal_workflow_metadata'))).toContain('serves v1');
      return true;
    };
    await waitFor(isShown, { describe: 'shown in the UI' });
  });

  it.concurrent('that is paused collects publishes, keeps its link fresh, and exports them once it is resumed', async () => {
    const site = await startSite();
    site.api.behaviour.linkLifetimeMs = 4_000;
    await exportContent(site, 1);
    expect(await site.handle.executeUpdate('pause')).toMatchObject({ phase: 'paused' });
    site.api.behaviour.content = 2;
    await site.publish();
    await site.publish();
    const { linkExpiresAt } = await site.state();
    await site.until('refreshed', (state) => state.linkExpiresAt !== linkExpiresAt);
    expect(site.api.jobs).toHaveLength(1);
    await expect(site.handle.executeUpdate('exportNow')).rejects.toThrow();
    await site.handle.executeUpdate('resume');
    await site.until('live', ({ phase }) => phase === 'live' && site.api.jobs.length === 2);
    expect((await site.deployed())?.content).toBe(2);
  });

  it.concurrent('answers refreshNow once the fresh link is deployed, or with the reason why it is not', async () => {
    const site = await startSite();
    await exportContent(site, 1);
    const before = await site.deployed();
    await site.handle.executeUpdate('refreshNow');
    expect((await site.deployed())?.expiresAtMs).toBeGreaterThan(before?.expiresAtMs ?? Number.POSITIVE_INFINITY);
    site.api.behaviour.intercept = () => ({ status: 403, body: '{"error":"no plan"}' });
    await expect(site.handle.executeUpdate('refreshNow')).rejects.toMatchObject({
      cause: { message: expect.stringContaining('403: no plan') },
    });
  });

  it.concurrent('that was rolled back serves the earlier job until the next publish', async () => {
    const site = await startSite();
    site.api.behaviour.linkLifetimeMs = 3_000;
    const first = await exportContent(site, 1);
    await exportContent(site, 2);
    const state = await site.handle.executeUpdate('rollback', { args: [first] });
    expect(state).toMatchObject({ jobId: first, version: 'v1' });
    const rolledBack = await site.deployed();
    expect(rolledBack?.content).toBe(1);
    await site.until(
      'refreshed',
      ({ linkExpiresAt }) => Date.parse(linkExpiresAt ?? '') > (rolledBack?.expiresAtMs ?? 0),
    );
    expect((await site.deployed())?.content).toBe(1);
    await exportContent(site, 3);
    expect((await site.deployed())?.content).toBe(3);
  });

  it.concurrent('that is rolled back during an export cancels it', async () => {
    const site = await startSite();
    const first = await exportContent(site, 1);
    await exportContent(site, 2);
    site.api.behaviour.jobDurationMs = 3_600_000;
    await site.publish();
    await site.until('exporting', ({ phase, jobId }) => phase === 'exporting' && jobId !== null);
    await site.handle.executeUpdate('rollback', { args: [first] });
    expect(site.api.jobs[2]?.status).toBe('failed');
    expect(await site.state()).toMatchObject({ phase: 'live', jobId: first, lastError: null });
    expect((await site.deployed())?.content).toBe(1);
    site.api.behaviour.jobDurationMs = 0;
    await exportContent(site, 3);
    expect(await site.state()).toMatchObject({ phase: 'live', lastError: null });
    expect(site.api.jobs.map(({ status }) => status)).toEqual(['completed', 'completed', 'failed', 'completed']);
  });

  it.concurrent('refuses a rollback to a job of another domain, or to an unknown one, and stays as it is', async () => {
    const site = await startSite();
    const first = await exportContent(site, 1);
    const refused = async (jobId: string, why: string): Promise<void> => {
      const cause = { message: expect.stringContaining(why) };
      await expect(site.handle.executeUpdate('rollback', { args: [jobId] })).rejects.toMatchObject({ cause });
    };
    await refused('se_unknown', 'no such job');
    await refused('', 'expected the id of a completed job');
    site.api.behaviour.domain = 'other.example.com';
    await refused(first, 'it exported other.example.com');
    expect((await site.deployed())?.content).toBe(1);
    expect(await site.state()).toMatchObject({ phase: 'live', lastError: null });
  });

  it.concurrent('goes back to an older version that is pinned, without a refresh or a publish', async () => {
    const site = await startSite();
    const first = await exportContent(site, 1);
    await exportContent(site, 2);
    await pin(site, 'v1');
    // As a worker does that has noticed the pin (announce-pins.test.ts).
    await site.handle.signal('configChanged');
    await site.until('held at v1', ({ phase, deployments }) => phase === 'held' && deployments[0]?.jobId === first);
    expect((await site.deployed())?.content).toBe(1);
  });

  it.concurrent('with an unknown pin on a file that was never written keeps exporting, and deploys when the pin goes', async () => {
    const site = await startSite();
    await writeFile(site.valuesFile, 'staticExport:\n  version: v9\n  enabled: false\n');
    await site.publish();
    const held = await site.until('held', ({ phase }) => phase === 'held');
    expect(held).toMatchObject({ version: null, deployments: [{ held: true, pin: 'v9', version: null, jobId: null }] });
    site.api.behaviour.content = 2;
    await site.publish();
    await site.until('exported once more', ({ phase }) => phase === 'held' && site.api.jobs.length === 2);
    await site.handle.executeUpdate('exportNow');
    await site.until('exported when asked', ({ phase }) => phase === 'held' && site.api.jobs.length === 3);
    await writeFile(site.valuesFile, 'staticExport:\n  enabled: false\n');
    const newest = site.api.jobs[2]?.jobId;
    await site.until('live', ({ phase, deployments }) => phase === 'live' && deployments[0]?.jobId === newest);
    expect((await site.deployed())?.jobId).toBe(newest);
  });

  it.concurrent('with a pin on a lost bundle keeps the links of its other deployments fresh', async () => {
    const site = await startSite();
    const other = `${site.valuesFile}.other`;
    site.configure({ deployments: [{ valuesFile: site.valuesFile }, { valuesFile: other }] });
    await exportContent(site, 1);
    await pin(site, 'v1');
    await exportContent(site, 2);
    site.api.behaviour.intercept = ({ path }) => (path.endsWith('1/bundle') ? { status: 410 } : undefined);
    const before = await readFile(other, 'utf8');
    await expect(site.handle.executeUpdate('refreshNow')).rejects.toThrow();
    expect((await site.state()).lastError).toMatchObject({ status: 410 });
    expect(await readFile(other, 'utf8')).not.toBe(before);
    expect(site.api.jobs).toHaveLength(2);
  });

  it.concurrent('deploys its newest export to a deployment that is added to the configuration', async () => {
    const site = await startSite({ deployments: [] });
    await site.publish();
    await site.until('live', ({ phase }) => phase === 'live');
    expect(await site.deployed()).toBeNull();
    site.configure({});
    await site.handle.signal('configChanged');
    await site.until('deployed', ({ deployments }) => deployments[0]?.jobId === site.api.jobs[0]?.jobId);
    expect(site.api.jobs).toHaveLength(1);
  });

  it.concurrent('ends its workflow once it is taken out of the configuration', async () => {
    const site = await startSite();
    await exportContent(site, 1);
    site.configure(undefined);
    await site.handle.signal('configChanged');
    await expect(site.handle.result()).resolves.toBeUndefined();
  });
});
