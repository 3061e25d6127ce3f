import { execa } from 'execa';
import { createTestRepository } from '../../helpers/forge-repository.ts';

/** Runs in a separate process, because the test must read Node's warnings from its standard error. */
const CONCURRENT_COMMANDS = `
import { gitIn } from './platform/forge/git.ts';
const git = gitIn(process.argv[1]);
await Promise.all(Array.from({ length: 12 }, () => git.read(['rev-parse', 'main'])));
`;

describe('git on a local repository', () => {
  it('runs many commands concurrently without a listener leak warning', async () => {
    const repository = await createTestRepository({ 'README.md': 'Hello\n' }, { bare: true });
    const node = [
      '--import',
      './scripts/typescript.js',
      '--input-type=module',
      '--eval',
      CONCURRENT_COMMANDS,
      repository.dir,
    ];
    const { stderr } = await execa(process.execPath, node);
    await repository.remove();
    expect(stderr).not.toContain('leak');
  });
});
