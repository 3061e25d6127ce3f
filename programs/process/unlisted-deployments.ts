import { lstat, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { z } from 'zod';
import { errorCode } from '../../base/error-code.ts';
import { replaceFile } from '../../base/replace-file.ts';
import { deploymentFolder, type Home } from './home.ts';
import type { Lifetime } from './lifetime.ts';

/** Days on which a deployment ran in this GALLEY_HOME and none had the folder's values file. */
export const UNLISTED_DAYS = 30;

const MARK = 'unlisted.json';
/** All that a deployment puts into its folder, also if it was killed. What has anything else isn't ours to delete. */
const OWN_NAME = /^(?:downloads|versions|(?:state|unlisted)\.json|\.(?:state|unlisted)\.json\..+\.tmp)$/;
const DAY_MS = 86_400_000;

const mark = z.array(z.iso.date());

/** Sweeps now and once a day. What can't be deleted stays: only space is at stake. */
export async function deleteUnlisted(
  valuesFiles: readonly string[],
  { home, logger, lifetime }: { home: Home; logger: Logger; lifetime: Lifetime },
): Promise<void> {
  const listed = new Set(valuesFiles.map((each) => deploymentFolder(each)[1]));
  const sweep = async (): Promise<void> => {
    try {
      const deleted = await sweepUnlisted({ parent: home.path('deployments'), listed, now: new Date() });
      const said = `Deleted the versions of a values file that no deployment had on ${UNLISTED_DAYS} days`;
      for (const folder of deleted) logger.info({ folder }, said);
    } catch (error) {
      if (errorCode(error) !== 'ENOENT') logger.warn({ err: error }, 'Folders of deployments could not be deleted');
    }
  };
  await sweep();
  const timer = setInterval(() => void sweep(), DAY_MS).unref();
  lifetime.onStop('sweep of deployments', async () => clearInterval(timer));
}

type Sweep = {
  /** The folder `deployments`. */
  parent: string;
  /** The names in it of the deployments of this process. */
  listed: ReadonlySet<string>;
  now: Date;
};

/**
 * Deletes the folders of values files that no deployment had on 30 days, and returns their paths. Days are counted, not
 * the time since then: while a machine is off, nobody can list anything. Another process that shares the folder takes its own
 * off the count, at its start and once a day. Call it as often.
 */
export async function sweepUnlisted({ parent, listed, now }: Sweep): Promise<string[]> {
  const deleted: string[] = [];
  for (const name of (await readdir(parent)).filter((each) => /^[0-9a-f]{16}$/.test(each))) {
    const folder = join(parent, name);
    if (listed.has(name)) await rm(join(folder, MARK), { force: true });
    else if (await isOurs(folder)) {
      const days = await countedDays(folder, now.toISOString().slice(0, 10));
      if (days <= UNLISTED_DAYS) continue;
      await rm(folder, { recursive: true, force: true });
      deleted.push(folder);
    }
  }
  return deleted;
}

async function isOurs(folder: string): Promise<boolean> {
  const found = await lstat(folder).catch(() => undefined);
  if (found?.isDirectory() !== true || found.uid !== (process.getuid?.() ?? found.uid)) return false;
  const names = await readdir(folder).catch(() => ['unreadable']);
  return names.every((name) => OWN_NAME.test(name));
}

/** The days so far, with today. A damaged mark counts from the beginning. */
async function countedDays(folder: string, today: string): Promise<number> {
  const path = join(folder, MARK);
  const before = await readFile(path, 'utf8')
    .then((text) => mark.parse(JSON.parse(text)))
    .catch((): string[] => []);
  if (before.includes(today)) return before.length;
  await replaceFile(path, JSON.stringify([...before, today]), { mode: 0o600 });
  return before.length + 1;
}
