import { text } from 'node:stream/consumers';
import { bytesOf, readEntries } from '../../../bundle/read-entries.ts';
import { HttpError } from '../../../web/http-error.ts';
import { findOwnJob, requireCompleted, requireEnterprise } from '../../api/static-export/export-job-view.ts';
import type { ObjectStore } from '../../objects/object-store.ts';
import type { Caller } from '../../store/api-keys.ts';
import { findExportBefore } from '../../store/export-jobs.ts';
import type { DashboardContext } from '../dashboard-context.ts';

/** Longer files aren't compared: such a diff is too long to read, and slow to make. */
const MAX_FILE_BYTES = 1024 * 1024;

/** One file of the bundle, and of that of the project's export before; empty if it had none. Throws 404 and 413. */
export async function readVersions(
  { db, objects }: DashboardContext,
  caller: Caller,
  { jobId, path }: { jobId: unknown; path: string },
): Promise<{ before: string; after: string }> {
  requireEnterprise(caller);
  const job = await findOwnJob(db, caller, jobId);
  const { archiveKey } = requireCompleted(job);
  const before = await findExportBefore(db, job);
  if (before === undefined) throw new HttpError(404, 'There is no export before this one to compare with');
  const [then, now] = await Promise.all([
    readFile(objects, requireCompleted(before).archiveKey, path),
    readFile(objects, archiveKey, path),
  ]);
  if (then === undefined && now === undefined) throw new HttpError(404, 'Neither export has such a file');
  return { before: then ?? '', after: now ?? '' };
}

/** A file of a bundle as text; undefined if it has none. Reads the archive up to the file. */
async function readFile(
  objects: Pick<ObjectStore, 'get'>,
  archiveKey: string,
  path: string,
): Promise<string | undefined> {
  let found: string | undefined;
  await readEntries(await objects.get(archiveKey), { maxBytes: Number.MAX_SAFE_INTEGER }, async (entry) => {
    if (entry.header.name !== path) return undefined;
    if ((entry.header.size ?? 0) > MAX_FILE_BYTES) throw new HttpError(413, 'The file is too large to compare');
    found = await text(bytesOf(entry));
    return 'stop';
  });
  return found;
}
