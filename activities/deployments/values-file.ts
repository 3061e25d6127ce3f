import { isUtf8 } from 'node:buffer';
import { readFile } from 'node:fs/promises';

import type { DeploymentReport, DeploymentWrite, Switches, ValuesFileTarget } from './deployment-target.ts';
import { editValues, readSwitches, ValuesFileError } from './edit-values.ts';

import { hasCode } from './error-code.ts';
import { withFileLock } from './file-lock.ts';
import { replaceFile } from './replace-file.ts';
import { isOlder, isOlderJob, readSidecar, type Sidecar, writeSidecar } from './sidecar.ts';
import { placeOf } from './splice.ts';

/** If the file changes more often than this during a write, the activity's retry handles it. */
const MAX_DISTURBANCES = 5;

/**
 * A self-hosted deployment, controlled by its values file. The file and its sidecar are changed under a lock, sidecar
 * first: from then on a late older write is rejected, and if the process crashes in between, the retry of the same
 * write completes it.
 */
export function createValuesFileTarget(path: string): ValuesFileTarget {
  return {
    write: (write) => withFileLock(path, (stillHeld) => writeUndisturbed(path, write, stillHeld)),
    readSwitches: () => readSwitchesOnce(path),
  };
}

const reading = new Map<string, Promise<Switches>>();

/** Concurrent reads share one access, so a hanging file system blocks only one thread. */
function readSwitchesOnce(path: string): Promise<Switches> {
  const begun = reading.get(path);
  if (begun !== undefined) return begun;
  const read = readText(path)
    .then(readSwitches)
    .finally(() => reading.delete(path));
  reading.set(path, read);
  return read;
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
  const current = await readSidecar(path);
  const { pin, off: disabled } = readSwitches(text);
  const deployedBefore = current === null ? write.deployedBefore === true : !current.enabling;
  const off = disabled && deployedBefore;
  const refused = (outcome: DeploymentReport['outcome']): DeploymentReport => {
    const newest = current && { epoch: current.epoch, sequence: current.sequence };
    return { outcome, pin, off, jobId: current?.jobId ?? null, newest };
  };

  const { epoch, sequence, jobId, version, createdAt = null } = write;
  const published = write.newest && write.rolledBack !== true;
  if (published && isOlderJob(createdAt, current)) return refused('older');
  if (current !== null && isSuperseded(write, current)) return refused('superseded');
  if (write.newest && pin !== null && !servesPin(pin, write, current)) return refused('held');
  if (!write.newest && (pin === null || (write.version !== null && pin !== write.version))) return refused('unpinned');
  // Only the first deploy enables the export. If an operator disables it later, the link stays fresh and `enabled`
  // stays false.
  const edited = editValues(text, {
    enabled: write.kind === 'deploy' && !off ? true : undefined,
    bundleUrl: write.bundleUrl,
  });
  const newestJobAt = published ? createdAt : (current?.newestJobAt ?? null);
  stillHeld();
  const written = { epoch, sequence, jobId, version, newestJobAt, enabling: false };
  // If this write is lost halfway, the next one must know that it didn't set `enabled`.
  const enabling = disabled && !off && write.kind === 'deploy';
  await writeSidecar(path, { ...written, enabling });
  if (edited !== text) {
    await replaceFile(path, edited, async () => {
      stillHeld();
      if ((await readText(path)) !== text) throw new ChangedMeanwhile(`${path} keeps changing during the write`);
    });
  }
  if (enabling) await writeSidecar(path, written);
  return { outcome: 'written', pin, off, jobId, newest: { epoch, sequence } };
}

function isSuperseded(write: DeploymentWrite, current: Sidecar): boolean {
  return isOlder(write, current) || (write.kind === 'refresh' && write.jobId !== current.jobId);
}

/** If the service gives no versions, a pin can only mean: keep what is deployed. */
function servesPin(pin: string, write: DeploymentWrite, current: Sidecar | null): boolean {
  if (write.version !== null) return pin === write.version;
  return current === null || current.jobId === write.jobId;
}

async function readText(path: string): Promise<string> {
  try {
    const bytes = await readFile(path);
    const text = bytes.toString('utf8');
    // Written back, every byte that isn't UTF-8 would be another one.
    if (!isUtf8(bytes))
      throw new ValuesFileError(`expected UTF-8, not the byte ${placeOf(text, text.indexOf('\ufffd'))}`);
    return text;
  } catch (error) {
    // The first deploy creates the file.
    if (hasCode(error, 'ENOENT')) return '';
    throw error;
  }
}
