import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { galley } from '../helpers/galley.ts';

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'galley-home-'));
  await writeFile(join(folder, 'a-file'), '');
});

afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
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
