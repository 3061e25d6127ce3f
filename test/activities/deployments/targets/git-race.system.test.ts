import { createGitTarget } from '../../../../activities/deployments/targets/git.ts';
import { createTestRepository } from '../../../helpers/forge-repository.ts';
import { deploymentWrite } from '../deployment-write.ts';

const ROUNDS = 100;
const path = 'charts/docs/values.yaml';
const context = { site: 'docs', signal: new AbortController().signal };

describe('two writers to one branch of a git repository', () => {
  it(`lose no update in ${ROUNDS} rounds`, async () => {
    const repository = await createTestRepository({ [path]: 'replicas: 2 # kept\n', 'eu.yaml': '' });
    try {
      const settings = { repository: repository.url, branch: 'main', mode: 'push' } as const;
      const targets = [path, 'eu.yaml'].map((each) => createGitTarget({ ...settings, path: each }));
      for (let sequence = 1; sequence <= ROUNDS; sequence++) {
        const write = deploymentWrite({ sequence });
        const reports = await Promise.all(targets.map((target) => target.write(write, context)));
        expect(reports.map(({ outcome }) => outcome)).toEqual(['written', 'written']);
        for (const each of [path, 'eu.yaml']) {
          expect(await repository.git('show', `main:${each}`)).toContain(
            `bundleUrl: "https://objects.test/${sequence}"`,
          );
        }
      }
      expect(await repository.git('show', `main:${path}`)).toContain('replicas: 2 # kept\n');
      expect((await repository.git('rev-list', '--count', 'main')).trim()).toBe(String(1 + 2 * ROUNDS));
    } finally {
      await repository.remove();
    }
  }, 1_200_000);
});
