import { readFile } from 'node:fs/promises';
import { waitFor } from '../helpers/system/wait-for.ts';
import { workflowBundles } from '../helpers/workflow-bundles.ts';
import type { SiteFixture } from '../workflows/site-fixture.ts';
import { useSites } from '../workflows/use-sites.ts';

const { startSite, server } = useSites('dev-server');

/** Temporal takes a version once its worker has asked for work, which it does a moment after its start. */
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
  it('with the same build goes on with the same run and job, and reads the configuration for the next export', async () => {
    const site = await startSite();
    site.api.behaviour.jobDurationMs = 3_600_000;
    await site.publish();
    await site.until('exporting', ({ jobId }) => jobId !== null);
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

  it('with a new build makes runs of the old one continue as new at their next turn, with all they know', async () => {
    const site = await startSite();
    await site.publish({ id: 'kept' });
    const before = await site.until('live', ({ phase }) => phase === 'live');
    const { runId } = await site.handle.describe();
    await site.stopWorker();
    const code = await readFile(workflowBundles.orchestrator.codePath, 'utf8');
    // Before the code: what follows it would be read as a part of its source map.
    await site.startWorker({ workflowBundle: { code: `// another build\n${code}` } });
    // Nothing wakes a workflow because a worker starts: ten thousand sites would wake at once.
    expect((await site.handle.describe()).runId).toBe(runId);
    await site.publish({ id: 'kept' });
    await waitFor(async () => (await site.handle.describe()).runId !== runId, { describe: 'continued as new' });
    expect({ ...(await site.state()), deliveries: [] }).toEqual({ ...before, deliveries: [] });
    await site.until('ignored', ({ deliveries }) => deliveries[0]?.outcome === 'duplicate');
    expect(site.api.jobs).toHaveLength(1);
  });
});

// The last one: from then on the task queue's work goes to workers with a version only.
describe('a worker with a version', () => {
  it('gets work once Temporal has its version as the current one, and goes on with runs of the last one', async () => {
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
