import { join } from 'node:path';
import { execa } from 'execa';
import { BASELINE_COMMIT } from '../helpers/baseline.ts';
import { waitFor } from '../helpers/system/wait-for.ts';
import { type Cluster, SERVED, settled, startCluster } from './cluster.ts';
import { scriptsOfPage } from './page.ts';
import { publishing } from './publishing.ts';

/** From the charts and the image of an earlier release to these, and back: one story, in the order of its tests. */
let cluster: Cluster;
let run: Cluster['run'];

beforeAll(async () => {
  cluster = await startCluster({ withBaseline: true });
  ({ run } = cluster);
  await execa('mkdir', [join(cluster.folder, 'earlier')]);
  await execa({ shell: true })`git archive ${BASELINE_COMMIT} deploy | tar -x -C ${join(cluster.folder, 'earlier')}`;
});
afterAll(() => cluster?.stop());

const NEXT = 'kubectl --namespace storage exec site -- node -e "fetch(\'http://127.0.0.1:8080/next\')"';
const VALUES = '--namespace galley --values values.yaml --set-file config=galley.yaml --wait';

const images = async (): Promise<string[]> => {
  const path = '{.items[*].spec.containers[*].image}';
  const found = await run(`kubectl --namespace galley get pods --output jsonpath='${path}'`);
  return [...new Set(found.split(/\s+/))];
};

/** The next edition of the site is served while nothing but publishes says so. */
async function nextIsServed(edition: number): Promise<void> {
  await run(NEXT);
  const isServed = async (): Promise<boolean> => (await run(SERVED)).includes(`Edition ${edition}.`);
  await publishing(cluster, async () => {
    await waitFor(isServed, { describe: `served edition ${edition}` });
  });
}

/** Changes the releases under publishes and visitors. Each publish is accepted, at once or again, and each visitor served. */
async function change(commands: string[]): Promise<void> {
  let isOver = false;
  const visits: Record<string, number> = {};
  const visiting = (async () => {
    while (!isOver) {
      const { output } = await cluster.attempt(SERVED);
      const seen = output.includes('Edition ') ? 'served' : output;
      visits[seen] = (visits[seen] ?? 0) + 1;
    }
  })();
  const outcomes = await publishing(cluster, async () => {
    for (const command of commands) await run(command);
    await settled(cluster);
  }).finally(() => {
    isOver = true;
  });
  await visiting;
  process.stdout.write(`${commands.join('\n')}\n${JSON.stringify({ outcomes, visits })}\n`);
  // The earlier release's receivers end their connections at once, so some deliveries get no answer; senders repeat those, too.
  const refused = Object.keys(outcomes).filter((outcome) => /^\d/.test(outcome) && !['202', '503'].includes(outcome));
  expect(refused).toEqual([]);
  expect(outcomes['202']).toBeGreaterThan(0);
  expect(Object.keys(visits)).toEqual(['served']);
}

test('the earlier release publishes', async () => {
  const scripts = await scriptsOfPage(cluster.folder);
  // Its charts had no test, its receivers wait for their key, and its workers ask for more than two cores have.
  const earlier = (script: string) =>
    script
      .replaceAll('deploy/helm', 'earlier/deploy/helm')
      .replaceAll(/ --wait$/gm, '')
      .replaceAll(/^helm (?:install|upgrade) galley .*/gm, '$& --set platformWorker.resources.requests.cpu=250m')
      .replaceAll(/^helm (?:install|upgrade) .*/gm, '$& --set image.tag=baseline');
  const upToPublish = scripts.slice(0, -1);
  for (const script of upToPublish) {
    if (script.includes('exec deploy/galley-platform'))
      await run('kubectl --namespace galley rollout status deploy/galley-platform');
    await run(earlier(script));
  }
  for (const name of ['api', 'worker', 'platform-worker'])
    await run(`kubectl --namespace galley rollout status deploy/galley-${name}`);
  const ready =
    'kubectl --namespace galley wait --for=condition=ready pod --selector app.kubernetes.io/instance=docs --timeout=120s';
  await publishing(cluster, async () => {
    await run(ready);
  });
  expect(await run(SERVED)).toContain('Edition 1.');
  expect(await images()).toEqual(['registry.example.com/galley:baseline']);
});

test('is upgraded under publishes, and the next edition is served', async () => {
  await change([
    `helm upgrade galley deploy/helm/galley ${VALUES}`,
    'helm upgrade docs deploy/helm/galley-deployment --namespace galley --values docs-values.yaml --wait',
  ]);
  expect(await images()).toEqual(['registry.example.com/galley:0.2.0']);
  await nextIsServed(2);
});

test('is rolled back under publishes, and the next edition is served', async () => {
  await change(['helm rollback docs 1 --namespace galley --wait', 'helm rollback galley 2 --namespace galley --wait']);
  expect(await images()).toEqual(['registry.example.com/galley:baseline']);
  await nextIsServed(3);
});
