import { isUtf8 } from 'node:buffer';
import { readFile, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { errorCode } from '../../base/error-code.ts';
import { replaceFile } from '../../base/replace-file.ts';
import { planEditBounded, readSwitchesBounded } from './bounded-values.ts';
import { checkFolder, type FolderDeps } from './check-folder.ts';
import type { DeploymentReport, DeploymentWrite, ValuesFileTarget } from './deployment-target.ts';
import { checkSize, ValuesFileError } from './edit-values.ts';
import { withFileLock } from './file-lock.ts';
import { readSidecar, writeSidecar } from './sidecar.ts';
import { placeOf } from './splice.ts';

/** If the file changes more often than this during a write, the activity's retry handles it. */
const MAX_DISTURBANCES = 5;

/**
 * A self-hosted deployment, controlled by its values file. The file and its sidecar are changed under a lock, sidecar
 * first: from then on a late older write is rejected, and if the process crashes in between, the retry of the same
 * write completes it.
 */
export function createValuesFileTarget(path: string, { createUnder }: FolderDeps = {}): ValuesFileTarget {
  return {
    async write(write) {
      await checkFolder(dirname(path), createUnder);
      return await withFileLock(path, (stillHeld) => writeUndisturbed(path, write, stillHeld));
    },
    readSwitches: async () => await readSwitchesBounded(await readText(path)),
  };
}

/** The file changed between reading and writing it. */
class ChangedMeanwhile extends Error {}

/** An operator's editor takes no lock: read and edit again after a concurrent change instead of overwriting it. */
async function writeUndisturbed(
  path: string,
  write: DeploymentWrite,
  stillHeld: () => void,
): Promise<DeploymentReport> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await writeLink(path, write, stillHeld);
    } catch (error) {
      if (!(error instanceof ChangedMeanwhile) || attempt === MAX_DISTURBANCES) throw error;
    }
  }
}

async function writeLink(path: string, write: DeploymentWrite, stillHeld: () => void): Promise<DeploymentReport> {
  const text = await readText(path);
  const plan = await planEditBounded(write, text, await readSidecar(path));
  if (plan.kind === 'refused') return plan.report;
  const { text: edited, sidecar, enabling, report } = plan;
  stillHeld();
  // If this write is lost halfway, the next one must know that it didn't set `enabled`.
  await writeSidecar(path, { ...sidecar, enabling });
  if (edited !== text) {
    const lastCheck = async (): Promise<void> => {
      stillHeld();
      if ((await readText(path)) !== text) throw new ChangedMeanwhile(`${path} keeps changing during the write`);
    };
    await replaceFile(path, edited, { lastCheck });
  }
  if (enabling) await writeSidecar(path, sidecar);
  return report;
}

async function readText(path: string): Promise<string> {
  try {
    checkSize((await stat(path)).size);
    const bytes = await readFile(path);
    const text = bytes.toString('utf8');
    // Written back, every byte that isn't UTF-8 would be another one.
    if (!isUtf8(bytes))
      throw new ValuesFileError(`expected UTF-8, not the byte ${placeOf(text, text.indexOf('\ufffd'))}`);
    return text;
  } catch (error) {
    // The first deploy creates the file.
    if (errorCode(error) === 'ENOENT') return '';
    throw error;
  }
}
