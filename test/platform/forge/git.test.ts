import { execa } from 'execa';
import { createTestRepository } from '../../helpers/forge-repository.ts';

/** In a process of its own: Node's warnings go to a process's standard error, and the test runner's own takes none. */
const MANY_AT_ONCE = `
import { gitIn } from './platform/forge/git.ts';
const git = gitIn(process.argv[1]);
await Promise.all(Array.from({ length: 12 }, () => git.read(['rev-parse', 'main'])));
`;

describe('git on a repository of this machine', () => {
  it('may run many times at once, which Node takes for no leak', async () => {
    const repository = await createTestRepository({ 'README.md': 'Hello\n' }, { bare: true });
    const node = ['--import', './scripts/typescript.js', '--input-type=module', '--eval', MANY_AT_ONCE, repository.dir];
    const { stderr } = await execa(process.execPath, node);
    await repository.remove();
    expect(stderr).not.toContain('leak');
  });
});
