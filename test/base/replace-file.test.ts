import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { replaceFile } from '../../base/replace-file.ts';
import { emptiedFolder } from '../helpers/temporary-folder.ts';

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

  it.each([
    ['the original', 0o600, {}],
    ['the original, which is read-only', 0o400, {}],
    ['what is given', 0o644, { mode: 0o600 }],
  ])('never lets others read the new content before the rename if they may not by %s', async (_, mode, options) => {
    const path = join(folder, 'values.yaml');
    await writeFile(path, 'old', { mode });
    const isPrivate: boolean[] = [];
    let done = false;
    const watching = (async () => {
      while (!done) {
        const names = (await readdir(folder)).filter((name) => name.endsWith('.tmp'));
        for (const name of names) {
          const made = await stat(join(folder, name)).catch(() => null);
          if (made !== null && made.size > 0) isPrivate.push((made.mode & 0o077) === 0);
        }
      }
    })();
    // Written in many parts, so that the watcher sees it grow.
    await replaceFile(path, 'secret'.repeat(2_000_000), options);
    done = true;
    await watching;
    expect(new Set(isPrivate)).toEqual(new Set([true]));
    expect((await stat(path)).mode & 0o077).toBe(0);
  });
});
