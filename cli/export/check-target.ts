import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { UsageError } from '../command-error.ts';

/**
 * Sees before an export of minutes that the file which an option names can be written. Makes nothing: folders that are
 * missing are made with the file.
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

/** Of what can't be looked at, its folder tells. */
async function existing(path: string): Promise<Awaited<ReturnType<typeof stat>> | undefined> {
  return await stat(path).catch(() => undefined);
}
