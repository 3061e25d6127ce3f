import { readFile } from 'node:fs/promises';
import { waitFor } from '../helpers/system/wait-for.ts';
import { workflowBundles } from '../helpers/workflow-bundles.ts';
import type { SiteFixture } from '../workflows/site-fixture.ts';
import { useSites } from '../workflows/use-sites.ts';

const { startSite, server } = useSites('dev-server');

/** Temporal accepts a version only after its worker has polled, a moment after its start. */
async function makeCurrent({ site }: SiteFixture, buildId: string): Promise<void> {
  const { client } = server();
  const { namespace } = client.options;
  const request = { namespace, deploymentName: site, buildId, identity: 'test' };
  const set = () =>
    client.workflowService.setWorkerDeploymentCurrentVersion(request).then(
      () => true,
      () => false,
    );
  await waitFor(set, { describe: `made the version ${buildId} current` });
}

describe('a worker that is stopped and started', () => {
  it('with the same build continues the same run and job, and reads the configuration again for the next export', async () => {
    const site = await startSite();
    site.api.behaviour.jobDurationMs = 3_600_000;
    await site.publish();
    await site.until('exporting', ({ exports: [newest] }) => newest?.jobId != null);
    const { runId } = await site.handle.describe();
    await site.stopWorker();
    site.api.behaviour.content = 2;
    await site.publish();
    site.configure({ deployments: [{ valuesFile: site.valuesFile }, { valuesFile: `${site.valuesFile}.other` }] });
    await site.startWorker();
    site.api.behaviour.jobDurationMs = 0;
    const both = await site.until('live with both', ({ phase }) => phase === 'live' && site.api.jobs.length === 2);
    expect(both.deployments).toHaveLength(2);
    expect((await site.deployed())?.content).toBe(2);
    expect((await site.handle.describe()).runId).toBe(runId);
  });

  it('with a new build makes old runs continue as new at their next workflow task, with their state', async () => {
    const site = await startSite();
    await site.publish({ id: 'kept' });
    const before = await site.until('live', ({ phase }) => phase === 'live');
    const { runId } = await site.handle.describe();
    await site.stopWorker();
    const code = await readFile(workflowBundles.orchestrator.codePath, 'utf8');
    // Inserted before the code, because text after it would become part of the source map.
    await site.startWorker({ workflowBundle: { code: `// another build\n${code}` } });
    // A worker start wakes no workflow, because ten thousand sites would wake at once.
    expect((await site.handle.describe()).runId).toBe(runId);
    await site.publish({ id: 'kept' });
    await waitFor(async () => (await site.handle.describe()).runId !== runId, { describe: 'continued as new' });
    expect({ ...(await site.state()), deliveries: [] }).toEqual({ ...before, deliveries: [] });
    await site.until('ignored', ({ deliveries }) => deliveries[0]?.outcome === 'duplicate');
    expect(site.api.jobs).toHaveLength(1);
  });
});

// The last test, because from then on only workers with a version get tasks of the queue.
describe('a worker with a version', () => {
  it('gets work once its version is the current one in Temporal, and continues runs of the previous version', async () => {
    const site = await startSite();
    await site.stopWorker();
    await site.startWorker({ version: { deploymentName: site.site, buildId: 'one' } });
    await site.publish();
    await makeCurrent(site, 'one');
    await site.until('live', ({ phase }) => phase === 'live');
    const { runId } = await site.handle.describe();
    await site.stopWorker();
    await site.startWorker({ version: { deploymentName: site.site, buildId: 'two' } });
    await makeCurrent(site, 'two');
    site.api.behaviour.content = 2;
    await site.publish();
    await waitFor(async () => (await site.deployed())?.content === 2, { describe: 'deployed by the second version' });
    expect((await site.handle.describe()).runId).not.toBe(runId);
    await site.stopWorker();
  });
});
