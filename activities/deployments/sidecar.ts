import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { errorCode } from '../../base/error-code.ts';
import { replaceFile } from '../../base/replace-file.ts';
import { writtenOrder } from './write-order.ts';

/**
 * Stored beside the values file to remember the newest write. `enabling` marks a first deploy that has yet to set
 * `enabled`, so a false one isn't the operator's.
 */
const sidecar = writtenOrder.extend({ enabling: z.boolean() });
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
