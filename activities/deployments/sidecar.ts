import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { hasCode } from './error-code.ts';
import { replaceFile } from './replace-file.ts';

/**
 * Stands beside the values file and remembers the newest write: `epoch` is when the site's chain of runs began
 * (milliseconds), `sequence` counts its writes, `jobId` names the job whose link was written.
 */
const sidecar = z.object({
  epoch: z.int().min(0),
  sequence: z.int().min(0),
  jobId: z.string(),
  version: z.string().nullable().default(null),
});
export type Sidecar = z.infer<typeof sidecar>;

export function sidecarPath(valuesFile: string): string {
  return `${valuesFile}.galley.json`;
}

/** Null where there is none, or none that can be read: the next write makes a new one. */
export async function readSidecar(valuesFile: string): Promise<Sidecar | null> {
  try {
    const parsed = sidecar.safeParse(JSON.parse(await readFile(sidecarPath(valuesFile), 'utf8')));
    return parsed.success ? parsed.data : null;
  } catch (error) {
    if (error instanceof SyntaxError || hasCode(error, 'ENOENT')) return null;
    throw error;
  }
}

export async function writeSidecar(valuesFile: string, content: Sidecar): Promise<void> {
  await replaceFile(sidecarPath(valuesFile), `${JSON.stringify(content)}\n`);
}

/** Whether write `a` comes before write `b`. */
export function isOlder(a: Pick<Sidecar, 'epoch' | 'sequence'>, b: Pick<Sidecar, 'epoch' | 'sequence'>): boolean {
  return a.epoch === b.epoch ? a.sequence < b.sequence : a.epoch < b.epoch;
}
