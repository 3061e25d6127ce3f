import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { galley } from '../helpers/galley.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

const folder = temporaryFolder();

beforeAll(async () => {
  await writeFile(join(folder, 'a-file'), '');
});

describe('a GALLEY_HOME that is no folder', () => {
  test.each([
    ['a file', () => join(folder, 'a-file'), 'EEXIST'],
    ['below a file', () => join(folder, 'a-file', 'state'), 'EEXIST'],
    ['below /proc', () => '/proc/galley', 'ENOENT'],
  ])('%s ends galley up with exit code 2 and one sentence', async (_where, path, reason) => {
    const home = path();
    const { code, stderr } = await galley(['up'], { GALLEY_HOME: home }, folder);
    const sentence = `GALLEY_HOME: expected a folder that can be created and written at ${home} (${reason})`;
    expect({ code, stderr: stderr.trim() }).toEqual({ code: 2, stderr: `galley: ${sentence}` });
  });
});
