import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { replaceFile } from '../../../activities/deployments/replace-file.ts';
import { emptiedFolder } from '../../helpers/temporary-folder.ts';

const folder = emptiedFolder();

describe('replacing a file', () => {
  it('gives up if the last check finds a change, and leaves nothing behind', async () => {
    const path = join(folder, 'values.yaml');
    await writeFile(path, 'mine');
    const lastCheck = async (): Promise<void> => {
      await writeFile(path, 'theirs');
      throw new Error('the file has changed');
    };
    const replacing = replaceFile(path, 'ours', { lastCheck });
    await expect(replacing).rejects.toThrow('the file has changed');
    expect(await readFile(path, 'utf8')).toBe('theirs');
    expect(await readdir(folder)).toEqual(['values.yaml']);
  });

  it('shows readers either the old or the new content, never a part', async () => {
    const path = join(folder, 'values.yaml');
    const contents = ['a', 'b'].map((letter) => letter.repeat(200_000));
    await replaceFile(path, contents[0] ?? '');
    let done = false;
    const reading = (async () => {
      while (!done) expect(contents).toContain(await readFile(path, 'utf8'));
    })();
    for (let round = 0; round < 20; round++) await replaceFile(path, contents[round % 2] ?? '');
    done = true;
    await reading;
  });
});
