import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { errorCode } from '../../base/error-code.ts';
import { replaceFile } from '../../base/replace-file.ts';

/**
 * Stored beside the values file to remember the newest write: `epoch` is when the site's chain of runs began
 * (milliseconds), `sequence` counts its writes, `jobId` is the job whose link was written, and `newestJobAt` (RFC 3339)
 * is when the newest deployed job was created, unaffected by rollbacks and pins. `enabling` marks a first deploy that
 * has yet to set `enabled`, so a false one isn't the operator's.
 */
const sidecar = z.object({
  epoch: z.int().min(0),
  sequence: z.int().min(0),
  jobId: z.string(),
  version: z.string().nullable(),
  newestJobAt: z.string().nullable(),
  enabling: z.boolean(),
});
export type Sidecar = z.infer<typeof sidecar>;

export function sidecarPath(valuesFile: string): string {
  return `${valuesFile}.galley.json`;
}

/** Null if it is missing or can't be read: the next write creates a new one. */
export async function readSidecar(valuesFile: string): Promise<Sidecar | null> {
  try {
    return parseSidecar(await readFile(sidecarPath(valuesFile), 'utf8'));
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null;
    throw error;
  }
}

export function parseSidecar(text: string): Sidecar | null {
  try {
    return sidecar.parse(JSON.parse(text));
  } catch {
    return null;
  }
}

export function sidecarText(content: Sidecar): string {
  return `${JSON.stringify(content)}\n`;
}

export async function writeSidecar(valuesFile: string, content: Sidecar): Promise<void> {
  await replaceFile(sidecarPath(valuesFile), sidecarText(content));
}

/** Whether a job was created before the newest deployed one. False if either time is unknown. */
export function isOlderJob(createdAt: string | null, { newestJobAt: newestAt }: Pick<Sidecar, 'newestJobAt'>): boolean {
  return createdAt !== null && newestAt !== null && Date.parse(createdAt) < Date.parse(newestAt);
}

export function isOlder(a: Pick<Sidecar, 'epoch' | 'sequence'>, b: Pick<Sidecar, 'epoch' | 'sequence'>): boolean {
  return a.epoch === b.epoch ? a.sequence < b.sequence : a.epoch < b.epoch;
}
