import { readFile } from 'node:fs/promises';
import { waitFor } from '../helpers/system/wait-for.ts';
import { workflowBundles } from '../helpers/workflow-bundles.ts';
import { useDevServer } from '../workflows/dev-server-benches.ts';

const { bench } = useDevServer();

describe('a worker of a new build', () => {
  it('makes the runs of the old one continue as new, with all they know', async () => {
    const site = await bench();
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
    await site.until('told', ({ deliveries }) => deliveries[0]?.outcome === 'duplicate');
    expect(site.api.jobs).toHaveLength(1);
  });
});

describe('a worker of the same build', () => {
  it('leaves the runs as they are and has them read their configuration again', async () => {
    const site = await bench();
    await site.publish();
    await site.until('live', ({ phase }) => phase === 'live');
    const { runId } = await site.handle.describe();
    await site.stopWorker();
    site.configure({ deployments: [] });
    await site.startWorker();
    await site.until('without deployments', ({ deployments }) => deployments.length === 0);
    expect((await site.handle.describe()).runId).toBe(runId);
  });
});
