import { readFile } from 'node:fs/promises';
import { waitFor } from '../helpers/system/wait-for.ts';
import { workflowBundles } from '../helpers/workflow-bundles.ts';
import { useSites } from '../workflows/use-sites.ts';

const { startSite } = useSites('dev-server');

describe('a worker that is stopped and started', () => {
  it('with the same build goes on with the same run and job, and has the configuration read again', async () => {
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
    await site.until('configured anew', ({ deployments }) => deployments.length === 2);
    site.api.behaviour.jobDurationMs = 0;
    await site.until('live with both', ({ phase }) => phase === 'live' && site.api.jobs.length === 2);
    expect((await site.deployed())?.content).toBe(2);
    expect((await site.handle.describe()).runId).toBe(runId);
  });

  it('with a new build makes the runs of the old one continue as new, with all they know', async () => {
    const site = await startSite();
    await site.publish({ id: 'kept' });
    const before = await site.until('live', ({ phase }) => phase === 'live');
    const { runId } = await site.handle.describe();
    await site.stopWorker();
    const code = await readFile(workflowBundles.orchestrator.codePath, 'utf8');
    // Before the code: what follows it would be read as a part of its source map.
    await site.startWorker({ workflowBundle: { code: `// another build\n${code}` } });
    await waitFor(async () => (await site.handle.describe()).runId !== runId, { describe: 'continued as new' });
    expect(await site.state()).toEqual(before);
    await site.publish({ id: 'kept' });
    await site.until('ignored', ({ deliveries }) => deliveries[0]?.outcome === 'duplicate');
    expect(site.api.jobs).toHaveLength(1);
  });
});
