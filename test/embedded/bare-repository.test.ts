import { join } from 'node:path';
import { createBareRepository, GitUnavailable } from '../../embedded/bare-repository.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

const { PATH } = process.env;
const folder = temporaryFolder();

afterEach(() => {
  process.env.PATH = PATH;
});

test('creating a bare repository fails with a clear message if git is missing', async () => {
  process.env.PATH = folder;
  const refused = createBareRepository(join(folder, 'docs.git'), {});
  await expect(refused).rejects.toThrow(GitUnavailable);
  await expect(refused).rejects.toThrow(/git, which is not on the PATH: install it/);
});
