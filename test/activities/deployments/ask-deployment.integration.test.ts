import { DefaultLogger, Runtime, Worker } from '@temporalio/worker';
import { createAskDeployment } from '../../../activities/deployments/ask-deployment.ts';
import { createFindOwner } from '../../../activities/deployments/find-owner.ts';
import { galleyConfig } from '../../../programs/config/galley-yaml.ts';
import { type HttpSite, startHttpSite } from '../../helpers/http-site.ts';
import { connectTemporal, type TestTemporal } from '../../helpers/temporal.ts';
import { workflowBundles } from '../../helpers/workflow-bundles.ts';
import { ask } from './ask-workflows.ts';

// Each question that leaves one open is a failed attempt.
Runtime.install({ logger: new DefaultLogger('ERROR') });

let temporal: TestTemporal;
let status: HttpSite;

beforeAll(async () => {
  temporal = await connectTemporal();
  status = await startHttpSite((_, response) => response.end(JSON.stringify({ version: 'v1', jobId: 'se_1' })));
});
afterAll(async () => {
  await temporal?.stop();
  await status?.close();
});

function readSite(site: string) {
  const deployments = [{ valuesFile: 'docs.yaml', statusUrl: `${status.origin}/-/status` }];
  const { sites } = galleyConfig.parse({
    adminApi: { url: 'https://api.example.com', key: 'galley_key' },
    sites: {
      docs: { domain: 'docs.example.com', export: { deployments } },
      blog: { domain: 'blog.example.com' },
    },
  });
  return sites[site];
}

test('a question keeps its count from attempt to attempt, in one pair of events', async () => {
  const worker = await Worker.create({
    connection: temporal.nativeConnection,
    namespace: temporal.namespace,
    taskQueue: 'ask',
    workflowBundle: workflowBundles.ask,
    activities: { askDeployment: createAskDeployment(readSite) },
  });
  const input = { site: 'docs', valuesFile: 'docs.yaml', jobId: 'se_2', version: 'v2', bundlePath: null } as const;
  await worker.runUntil(async () => {
    const handle = await temporal.client.workflow.start(ask, {
      taskQueue: 'ask',
      workflowId: 'ask',
      args: [{ ...input, withinMs: 5_000, until: 'verdict' }],
    });
    expect(await handle.result()).toEqual({
      verdict: 'other',
      why: `${status.host} serves v1`,
      servesVersion: 'v1',
      servesJobId: 'se_1',
    });
    expect(status.requests.length).toBeGreaterThanOrEqual(3);
    const { events } = await handle.fetchHistory();
    const started = events?.flatMap(({ activityTaskStartedEventAttributes: event }) => event ?? []);
    expect(started).toHaveLength(1);
  });
});

test('the owner of a deployment is gone once its workflow has ended, and otherwise what galley.yaml says', async () => {
  const { client } = temporal;
  const findOwner = createFindOwner({ readSite, client });
  const find = async (site: string, forSite = 'new'): Promise<string> =>
    (await findOwner({ site, valuesFile: 'docs.yaml', forSite })).verdict;
  expect(await find('docs')).toBe('gone');
  // No worker is needed: they only have to run.
  const started = ['docs', 'blog', 'old'].map((site) =>
    client.workflow.start('exportSite', { workflowId: `export:${site}`, taskQueue: 'nowhere', args: [] }),
  );
  const [docs] = await Promise.all(started);
  expect(await Promise.all(['docs', 'blog', 'old'].map((site) => find(site)))).toEqual([
    'listed',
    'released',
    'unknown',
  ]);
  expect(await find('docs', 'docs')).toBe('gone');
  await docs?.terminate();
  expect(await find('docs')).toBe('gone');
});
