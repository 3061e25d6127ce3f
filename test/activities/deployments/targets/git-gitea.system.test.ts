import { writeFile } from 'node:fs/promises';
import { z } from 'zod';
import type { DeploymentReport } from '../../../../activities/deployments/deployment-target.ts';
import { createGitTarget } from '../../../../activities/deployments/targets/git.ts';
import type { SettingsOf } from '../../../../contract/target-kind.ts';
import { buildBundle, siteOf } from '../../../deployment/bundles.ts';
import { openFixture } from '../../../deployment/fixture.ts';
import { type GiteaFixture, startGiteaFixture } from '../../../forge/gitea-fixture.ts';
import { startHttpSite } from '../../../helpers/http-site.ts';
import { deploymentWrite } from '../deployment-write.ts';

const RACES = 15;
const path = 'charts/docs/values.yaml';
const context = { site: 'docs', signal: new AbortController().signal };
const pulls = z.array(z.object({ number: z.int(), html_url: z.string(), title: z.string(), state: z.string() }));

let fixture: GiteaFixture;

beforeAll(async () => {
  fixture = await startGiteaFixture();
});
afterAll(() => fixture?.stop());

/** A repository on Gitea, and what its API says. */
async function createRepository() {
  const files = await fixture.createRepository({ [path]: 'replicas: 2 # kept\n', 'eu.yaml': '# eu\n' });
  const api = `/repos${new URL(files.repository).pathname.replace('.git', '')}`;
  const get = (rest: string) => fixture.gitea.call(fixture.gitea.admin, 'GET', `${api}${rest}`);
  return {
    ...files,
    async read(file: string): Promise<string> {
      const { content } = z.object({ content: z.string() }).parse(await get(`/contents/${file}?ref=main`));
      return Buffer.from(content, 'base64').toString();
    },
    close: (number: number) =>
      fixture.gitea.call(fixture.gitea.admin, 'PATCH', `${api}/pulls/${number}`, { state: 'closed' }),
    pulls: async () => pulls.parse(await get('/pulls?state=all')),
    settings: (changes: Partial<SettingsOf<'git'>> = {}): SettingsOf<'git'> => ({
      ...{ repository: files.repository, path, branch: 'main', mode: 'push', token: fixture.bot.token },
      ...changes,
    }),
  };
}

function writeOf(sequence: number, bundleUrl = `https://objects.test/${sequence}`) {
  return deploymentWrite({ sequence, bundleUrl });
}

describe('a values file in a repository on Gitea', () => {
  it('is proposed in one pull request, which a second publish updates, and is served once it is merged', async () => {
    const repository = await createRepository();
    const bundles = await startHttpSite(async ({ url = '' }, response) =>
      response.end(await buildBundle({ ...siteOf(url.slice(1)), version: url.slice(1) })),
    );
    const consumer = await openFixture();
    try {
      const settings = repository.settings({ mode: 'pull-request' });
      const target = createGitTarget(settings, { openForge: () => fixture.writer });
      const stateAfter = (report: DeploymentReport) =>
        target.readProposal?.({ epoch: 1, sequence: report.owner?.sequence ?? 0 }, context);
      for (const sequence of [1, 2]) {
        const report = await target.write(writeOf(sequence, `${bundles.origin}/v${sequence}`), context);
        expect(report).toMatchObject({ outcome: 'proposed', url: expect.stringMatching(/\/pulls\/\d+$/) });
        expect(await stateAfter(report)).toBe('open');
      }
      const [opened, ...more] = await repository.pulls();
      expect(more).toEqual([]);
      expect(opened).toMatchObject({ title: 'Deploy docs v2', state: 'open' });
      expect(await repository.read(path)).toBe('replicas: 2 # kept\n');

      await repository.merge(opened?.html_url ?? '');
      // As Argo CD or Flux do: what is in the branch becomes the deployment's values.
      const values = await repository.read(path);
      expect(values).toContain('replicas: 2 # kept\n');
      await writeFile(consumer.valuesFile, values);
      const deployment = await consumer.start();
      await deployment.until('serves v2', ({ version }) => version === 'v2');
      expect(await deployment.text('/')).toContain('<title>home v2</title>');
      // A repeated write opens nothing new, and the next version opens another one.
      const merged = await target.write(writeOf(2, `${bundles.origin}/v2`), context);
      expect(merged).toMatchObject({ outcome: 'written' });
      expect(await stateAfter(merged)).toBe('merged');
      expect(await repository.pulls()).toHaveLength(1);
      const third = await target.write(writeOf(3), context);
      const [open] = (await repository.pulls()).filter(({ state }) => state === 'open');
      expect(third).toMatchObject({ outcome: 'proposed', url: open?.html_url });
      // One that people close stays closed.
      await repository.close(open?.number ?? 0);
      expect(await stateAfter(third)).toBe('closed');
      expect(await target.write(writeOf(3), context)).toMatchObject({ outcome: 'closed', url: open?.html_url });
      expect(await target.write(writeOf(4), context)).toMatchObject({ outcome: 'proposed' });
      expect((await repository.pulls()).map(({ state }) => state).sort()).toEqual(['closed', 'closed', 'open']);
    } finally {
      await consumer.close();
      await bundles.close();
    }
  });

  it(`loses no update to a second writer in ${RACES} rounds, over HTTP`, async () => {
    const repository = await createRepository();
    const targets = [path, 'eu.yaml'].map((each) => createGitTarget(repository.settings({ path: each })));
    for (let sequence = 1; sequence <= RACES; sequence++) {
      const reports = await Promise.all(targets.map((target) => target.write(writeOf(sequence), context)));
      expect(reports.map(({ outcome }) => outcome)).toEqual(['written', 'written']);
      for (const each of [path, 'eu.yaml']) {
        expect(await repository.read(each)).toContain(`bundleUrl: "https://objects.test/${sequence}"`);
      }
    }
    expect(await repository.read(path)).toContain('replicas: 2 # kept\n');
  }, 600_000);
});
