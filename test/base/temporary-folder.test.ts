import { mkdir, readdir, symlink, utimes } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { makeTemporaryFolder } from '../../base/temporary-folder.ts';
import { emptiedFolder } from '../helpers/temporary-folder.ts';

const parent = emptiedFolder();
const DAY_MS = 86_400_000;

it('removes what killed processes left a week ago under the same name, and nothing else', async () => {
  const ages = { 'galley-git-old': 8, 'galley-git-new': 6, 'galley-chromium-old': 8, 'git-old': 8 };
  for (const [name, days] of Object.entries(ages)) {
    await mkdir(join(parent, name, 'repository'), { recursive: true });
    await utimes(join(parent, name), new Date(), new Date(Date.now() - days * DAY_MS));
  }
  await symlink(join(parent, 'git-old'), join(parent, 'galley-git-link'));
  const made = await makeTemporaryFolder('git', parent);
  const { 'galley-git-old': _, ...kept } = ages;
  const left = [...Object.keys(kept), 'galley-git-link', basename(made)];
  expect((await readdir(parent)).sort()).toEqual(left.sort());
  expect(await readdir(join(parent, 'git-old'))).toEqual(['repository']);
});
