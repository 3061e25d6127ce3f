import { readFile, writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { SEARCH_ATTRIBUTES } from '../../contract/names.ts';
import { waitFor } from '../helpers/system/wait-for.ts';
import { useDevServer } from './dev-server-benches.ts';
import type { SiteBench } from './site-bench.ts';

const { bench } = useDevServer();

async function exported(site: SiteBench, content: number): Promise<string> {
  const before = site.api.jobs.length;
  site.api.behaviour.content = content;
  await site.publish();
  const { jobId } = await site.until(
    `live with ${content}`,
    ({ phase }) => (phase === 'live' || phase === 'held') && site.api.jobs.length === before + 1,
  );
  if (jobId === null) throw new Error('a live site has no job');
  return jobId;
}

describe('pause', () => {
  it('collects publishes without exporting them, keeps the link fresh, and resume exports them together', async () => {
    const site = await bench();
    site.api.behaviour.linkLifetimeMs = 4_000;
    await exported(site, 1);
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
});

describe('refreshNow', () => {
  it('answers once the fresh link is deployed', async () => {
    const site = await bench();
    await exported(site, 1);
    const before = await site.deployed();
    await site.handle.executeUpdate('refreshNow');
    expect((await site.deployed())?.expiresAtMs).toBeGreaterThan(before?.expiresAtMs ?? Number.POSITIVE_INFINITY);
  });

  it('tells why it could not', async () => {
    const site = await bench();
    await exported(site, 1);
    site.api.behaviour.intercept = () => ({ status: 403, body: '{"error":"no plan"}' });
    await expect(site.handle.executeUpdate('refreshNow')).rejects.toMatchObject({
      cause: { message: expect.stringContaining('403: no plan') },
    });
  });
});

describe('rollback', () => {
  it('deploys an earlier job and holds until the next publish', async () => {
    const site = await bench();
    site.api.behaviour.linkLifetimeMs = 5_000;
    const first = await exported(site, 1);
    await exported(site, 2);
    expect(await site.handle.executeUpdate('rollback', { args: [first] })).toMatchObject({
      jobId: first,
      version: 'v1',
    });
    const rolledBack = await site.deployed();
    expect(rolledBack?.content).toBe(1);
    await site.until('refreshed', (state) => Date.parse(state.linkExpiresAt ?? '') > (rolledBack?.expiresAtMs ?? 0));
    expect((await site.deployed())?.content).toBe(1);
    await exported(site, 3);
    expect((await site.deployed())?.content).toBe(3);
  });

  it('takes the place of an export that runs', async () => {
    const site = await bench();
    const first = await exported(site, 1);
    await exported(site, 2);
    site.api.behaviour.jobDurationMs = 3_600_000;
    await site.publish();
    await site.until('exporting', ({ phase, jobId }) => phase === 'exporting' && jobId !== null);
    await site.handle.executeUpdate('rollback', { args: [first] });
    site.api.behaviour.jobDurationMs = 0;
    await sleep(3_000);
    expect(await site.state()).toMatchObject({ phase: 'live', jobId: first, lastError: null });
    expect((await site.deployed())?.content).toBe(1);
    expect(site.api.jobs[2]?.status).toBe('failed');
  });

  it('to a job of another domain is refused', async () => {
    const site = await bench();
    const first = await exported(site, 1);
    site.api.behaviour.domain = 'other.example.com';
    await expect(site.handle.executeUpdate('rollback', { args: [first] })).rejects.toMatchObject({
      cause: { message: expect.stringContaining('it exported other.example.com') },
    });
  });

  it('to a job that the service does not know changes nothing', async () => {
    const site = await bench();
    await exported(site, 1);
    await expect(site.handle.executeUpdate('rollback', { args: ['se_unknown'] })).rejects.toMatchObject({
      cause: { message: expect.stringContaining('no such job') },
    });
    await expect(site.handle.executeUpdate('rollback', { args: [''] })).rejects.toThrow();
    expect((await site.deployed())?.content).toBe(1);
    expect(await site.state()).toMatchObject({ phase: 'live', lastError: null });
  });
});

describe("the operator's pin", () => {
  async function pin(site: SiteBench, version: string | null): Promise<void> {
    const text = (await readFile(site.valuesFile, 'utf8')).replace(/\n {2}version:.*/, '');
    const pinned = version === null ? text : text.replace('  enabled:', `  version: ${version}\n  enabled:`);
    await writeFile(site.valuesFile, pinned);
  }

  it('holds a deployment at its version, whose link is kept fresh, and lets the newest in when it goes', async () => {
    const site = await bench();
    site.api.behaviour.linkLifetimeMs = 4_000;
    const first = await exported(site, 1);
    await pin(site, 'v1');
    const second = await exported(site, 2);
    const held = await site.until('held', ({ phase }) => phase === 'held');
    expect(held.deployments[0]).toMatchObject({ jobId: first, version: 'v1', held: true });
    const before = await site.deployed();
    await site.until('refreshed', (state) => Date.parse(state.linkExpiresAt ?? '') > (before?.expiresAtMs ?? 0));
    expect((await site.deployed())?.jobId).toBe(first);
    await pin(site, null);
    await site.until('live', ({ phase, deployments }) => phase === 'live' && deployments[0]?.jobId === second);
    expect((await site.deployed())?.content).toBe(2);
  });

  it('that goes away lets the newest in without a refresh or a publish', async () => {
    const site = await bench();
    await exported(site, 1);
    await pin(site, 'v1');
    const second = await exported(site, 2);
    await site.until('held', ({ phase }) => phase === 'held');
    await pin(site, null);
    await site.until('live', ({ phase, deployments }) => phase === 'live' && deployments[0]?.jobId === second);
    expect((await site.deployed())?.content).toBe(2);
  });

  it('on a job whose bundle is gone does not keep other deployments from their links', async () => {
    const site = await bench();
    const other = `${site.valuesFile}.other`;
    site.configure({ deployments: [{ valuesFile: site.valuesFile }, { valuesFile: other }] });
    site.api.behaviour.linkLifetimeMs = 6_000;
    await exported(site, 1);
    await pin(site, 'v1');
    site.api.behaviour.intercept = ({ path }) => (path.endsWith('1/bundle') ? { status: 410 } : undefined);
    await exported(site, 2);
    const before = await readFile(other, 'utf8');
    await site.until('told of the lost bundle', ({ lastError }) => lastError?.status === 410);
    await waitFor(async () => (await readFile(other, 'utf8')) !== before, { describe: 'wrote the other values file' });
    expect(site.api.jobs).toHaveLength(2);
  });

  it('is noticed by itself, without a refresh or a publish, and so is its end', async () => {
    const site = await bench({ watchPins: true });
    const first = await exported(site, 1);
    const second = await exported(site, 2);
    await pin(site, 'v1');
    await site.until('held at v1', ({ phase, deployments }) => phase === 'held' && deployments[0]?.jobId === first);
    expect((await site.deployed())?.content).toBe(1);
    await pin(site, null);
    await site.until('live', ({ phase, deployments }) => phase === 'live' && deployments[0]?.jobId === second);
  });

  it('to an older version than the deployed one brings that one back', async () => {
    const site = await bench();
    const first = await exported(site, 1);
    await exported(site, 2);
    await pin(site, 'v1');
    await site.handle.executeUpdate('refreshNow');
    await site.until('held at v1', ({ phase, deployments }) => phase === 'held' && deployments[0]?.jobId === first);
    expect((await site.deployed())?.content).toBe(1);
  });
});

describe('the Temporal UI', () => {
  it('finds a site by its search attributes and shows what it waits for', async () => {
    const site = await bench({ searchAttributes: true });
    await exported(site, 1);
    const { linkExpiresAt } = await site.state();
    const isShown = async () => {
      const { searchAttributes } = await site.handle.describe();
      expect(searchAttributes).toMatchObject({
        [SEARCH_ATTRIBUTES.site]: [site.site],
        [SEARCH_ATTRIBUTES.version]: ['v1'],
        [SEARCH_ATTRIBUTES.linkExpiresAt]: [new Date(linkExpiresAt ?? '')],
      });
      const metadata: unknown = await site.handle.query('__temporal_workflow_metadata');
      expect(JSON.stringify(metadata)).toContain('serves v1');
      return true;
    };
    await waitFor(isShown, { describe: 'was shown' });
  });
});
