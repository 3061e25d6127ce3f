import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FolderInUse, lockFolder } from '../../embedded/folder-lock.ts';

describe('the lock of a state folder', () => {
  let folder: string;
  let lockFile: string;
  let holder: ChildProcess;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'galley-lock-'));
    lockFile = join(folder, 'lock.json');
    holder = spawn('sleep', ['600'], { stdio: 'ignore' });
    await once(holder, 'spawn');
    const since = '2026-11-21T08:00:00.000Z';
    await writeFile(lockFile, JSON.stringify({ pid: holder.pid, processStart: null, since }));
  });
  afterEach(async () => {
    holder.kill('SIGKILL');
    await rm(folder, { recursive: true, force: true });
  });

  test('is refused while its holder lives, by a sentence that names it', async () => {
    const refused = lockFolder(lockFile, folder);
    await expect(refused).rejects.toThrow(FolderInUse);
    await expect(refused).rejects.toThrow(`is in use by process ${holder.pid} since 2026-11-21T08:00:00.000Z`);
  });

  test('is taken from a holder that is on its way out', async () => {
    const taken = lockFolder(lockFile, folder);
    setTimeout(() => holder.kill('SIGKILL'), 300);
    const release = await taken;
    expect(JSON.parse(await readFile(lockFile, 'utf8'))).toMatchObject({ pid: process.pid });
    await release();
    await expect(readFile(lockFile)).rejects.toThrow('ENOENT');
  });
});
