import { createGitTarget } from '../../../../activities/deployments/targets/git.ts';
import { createTestRepository } from '../../../helpers/forge-repository.ts';
import { deploymentWrite } from '../deployment-write.ts';

test('a repository over SSH is pushed to with the key of the worker, also if the forge has a token', async () => {
  const repository = await createTestRepository({ 'values.yaml': '' });
  try {
    // Runs the command that the other side would, on this machine.
    const gitEnvironment = { GIT_SSH_COMMAND: `sh -c 'for last; do :; done; exec sh -c "$last"' ssh` };
    const settings = { repository: `git@forge.test:${repository.dir}`, path: 'values.yaml', branch: 'main' };
    const target = createGitTarget({ ...settings, mode: 'push', token: 'sesame' }, { gitEnvironment });
    const context = { site: 'docs', signal: new AbortController().signal };
    await target.write(deploymentWrite({ bundleUrl: 'https://bundles.test/v1' }), context);
    expect(await repository.git('show', 'main:values.yaml')).toContain('https://bundles.test/v1');
  } finally {
    await repository.remove();
  }
});
