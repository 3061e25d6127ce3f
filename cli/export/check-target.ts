import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { UsageError } from '../command-error.ts';

/**
 * Checks before a long export that an option's file can be written. Creates nothing.
 * @throws UsageError saying what is in the way.
 */
export async function checkTarget(option: '--out' | '--report', file: string): Promise<void> {
  if ((await existing(file))?.isDirectory())
    throw new UsageError(`${option}: expected a file, but ${file} is a folder`);
  let folder = dirname(file);
  while ((await existing(folder)) === undefined && dirname(folder) !== folder) folder = dirname(folder);
  if (!(await existing(folder))?.isDirectory()) throw new UsageError(`${option}: ${folder} is no folder`);
  await access(folder, constants.W_OK | constants.X_OK).catch(() => {
    throw new UsageError(`${option}: the folder ${folder} can't be written`);
  });
}

/** If it can't be read, check its folder. */
async function existing(path: string): Promise<Awaited<ReturnType<typeof stat>> | undefined> {
  return await stat(path).catch(() => undefined);
}
