import { open, readFile, rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import { z } from 'zod';
import { syncFolder } from './tree-writer.ts';

/**
 * A deployment's state across restarts. `current` is the pointer: replacing this file is the swap. Links are stored as
 * fingerprints only.
 */
const stateSchema = z.object({
  formatVersion: z.literal(1),
  /** The last known `enabled`, for a start with an unreadable values file. */
  enabled: z.boolean(),
  current: z
    .object({
      archiveSha256: z.string(),
      since: z.string(),
      linkFingerprint: z.string(),
      resourceFingerprint: z.string(),
      etag: z.string().optional(),
    })
    .nullable(),
  /** Older versions on the disk, newest first. */
  previous: z.array(z.string()),
});
export type DeploymentState = z.infer<typeof stateSchema>;

const EMPTY_STATE: DeploymentState = {
  formatVersion: 1,
  enabled: true,
  current: null,
  previous: [],
};

/** Reads the state; if it is missing or damaged, it is empty, because everything can be downloaded again. */
export async function readState(file: string): Promise<DeploymentState> {
  try {
    return stateSchema.parse(JSON.parse(await readFile(file, 'utf8')));
  } catch {
    return EMPTY_STATE;
  }
}

/** Replaces the state atomically. */
export async function writeState(file: string, state: DeploymentState): Promise<void> {
  const temporary = `${file}.new`;
  const handle = await open(temporary, 'w', 0o600);
  try {
    await handle.writeFile(JSON.stringify(state));
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(temporary, file);
  await syncFolder(dirname(file));
}
