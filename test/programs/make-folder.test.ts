import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { copyTo } from '../../cli/export/output.ts';
import { makeFolder } from '../../programs/process/make-folder.ts';

describe('makeFolder', () => {
  it('creates missing parents, also for several callers at once', async () => {
    const root = await mkdtemp(join(tmpdir(), 'galley-folders-'));
    try {
      const folder = join(root, 'a/b/c');
      await Promise.all([makeFolder(folder), makeFolder(folder), makeFolder(join(root, 'a/b'))]);
      expect((await stat(folder)).isDirectory()).toBe(true);
    } finally {
      await rm(root, { recursive: true });
    }
  });

  it('rejects a folder whose parent takes no entries, so an export to it ends', async () => {
    await expect(makeFolder('/proc/galley/site')).rejects.toMatchObject({ code: 'ENOENT' });
    await expect(copyTo('/proc/galley/site.tar.gz', '/dev/null')).rejects.toMatchObject({ code: 'ENOENT' });
  });
});
