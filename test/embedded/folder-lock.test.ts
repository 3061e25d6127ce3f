import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { FolderInUse, isFolderLocked, lockFolder } from '../../embedded/folder-lock.ts';
import { emptiedFolder } from '../helpers/temporary-folder.ts';

describe('the lock of a state folder', () => {
  const folder = emptiedFolder();
  let lockFile: string;
  let holder: ChildProcess;

  beforeEach(async () => {
    lockFile = join(folder, 'up.lock');
    const program = ['--import', './scripts/typescript.js', 'test/embedded/lock-holder.ts', lockFile, folder];
    holder = spawn(process.execPath, program, { stdio: ['ignore', 'pipe', 'inherit'] });
    if (holder.stdout) await once(holder.stdout, 'data');
  });
  afterEach(async () => {
    holder.kill('SIGKILL');
  });

  /** Process ids differ between containers, so only the lock counts, not the content of the file. */
  const pretend = async (owner: object) => {
    const written = JSON.parse(await readFile(lockFile, 'utf8'));
    await writeFile(lockFile, JSON.stringify({ ...written, ...owner }));
  };

  test('fails while its holder lives, with a message that names the holder and what to do', async () => {
    const { since } = JSON.parse(await readFile(lockFile, 'utf8'));
    const refused = lockFolder(lockFile, folder);
    await expect(refused).rejects.toThrow(FolderInUse);
    await expect(refused).rejects.toThrow(
      `${folder} is in use by process ${holder.pid} since ${since}: stop that one first, or set GALLEY_HOME`,
    );
    expect(await isFolderLocked(lockFile)).toBe(true);
  });

  test('fails while its holder lives in another container, with an unknown process id', async () => {
    await pretend({ pid: 4_194_305, host: 'other-container' });
    await expect(lockFolder(lockFile, folder)).rejects.toThrow(
      `${folder} is in use by process 4194305 on other-container since `,
    );
  });

  test('also fails if the content of the file is invalid', async () => {
    await writeFile(lockFile, '{"pid": 1');
    await expect(lockFolder(lockFile, folder)).rejects.toThrow(`${folder} is in use by another process: stop`);
  });

  test('is free once its holder was killed, even if another process has the same id', async () => {
    await pretend({ pid: process.pid });
    holder.kill('SIGKILL');
    await once(holder, 'exit');
    expect(await isFolderLocked(lockFile)).toBe(false);
    const release = await lockFolder(lockFile, folder);
    expect(JSON.parse(await readFile(lockFile, 'utf8'))).toMatchObject({ pid: process.pid });
    expect(await isFolderLocked(lockFile)).toBe(true);
    await release();
    expect(await isFolderLocked(lockFile)).toBe(false);
  });

  test('waits for a holder that is shutting down', async () => {
    const taken = lockFolder(lockFile, folder);
    setTimeout(() => holder.kill('SIGKILL'), 300);
    const release = await taken;
    expect(JSON.parse(await readFile(lockFile, 'utf8'))).toMatchObject({ pid: process.pid });
    await release();
  });

  test('is free if it was never taken', async () => {
    expect(await isFolderLocked(join(folder, 'other.lock'))).toBe(false);
  });
});
