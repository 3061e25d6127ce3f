import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createBareRepository, GitUnavailable } from '../../embedded/bare-repository.ts';

describe('a bare repository for the demo and the tests', () => {
  const { PATH } = process.env;
  let folder: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'galley-bare-'));
  });

  afterEach(async () => {
    process.env.PATH = PATH;
    await rm(folder, { recursive: true, force: true });
  });

  test('holds the given files in one commit on its branch', async () => {
    const files = { 'README.md': '# Read\n', 'guides/start.md': 'Start\n' };
    const repository = await createBareRepository(join(folder, 'docs.git'), files, 'trunk');
    expect(repository.url).toBe(`file://${folder}/docs.git`);
    expect(await repository.git('ls-tree', '-r', '--name-only', 'HEAD')).toBe('README.md\nguides/start.md');
    expect(await repository.git('rev-list', '--count', 'trunk')).toBe('1');
    expect(await repository.git('rev-parse', '--is-bare-repository')).toBe('true');
  });

  test('is refused in a sentence where there is no git', async () => {
    process.env.PATH = folder;
    const refused = createBareRepository(join(folder, 'docs.git'), {});
    await expect(refused).rejects.toThrow(GitUnavailable);
    await expect(refused).rejects.toThrow(/git, which is not on the PATH: install it/);
  });
});
