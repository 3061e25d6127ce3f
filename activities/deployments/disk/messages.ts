import { z } from 'zod';
import type { TargetConfig } from '../../../contract/deployment-config.ts';
import type { DeploymentReport, DeploymentWrite, Switches } from '../deployment-target.ts';

/** A deployment that is a file or a folder. */
export type DiskTarget = TargetConfig<'valuesFile' | 'directory' | 'airgap'>;

/** A values file, and the stamp of what was read from it before: unchanged, it isn't read again. */
export type FileToRead = { path: string; stamp?: string | undefined };

/** What was read. A missing file has no stamp and no pin. */
export type FileRead = ({ stamp: string | null } & Switches) | 'unchanged' | 'unreadable' | 'hangs';

/** Work on files, in a process of its own (process.ts). */
export type DiskJob =
  | { kind: 'write'; target: DiskTarget; write: DeploymentWrite; createUnder?: string | undefined }
  /** The result has one entry for each file, in the same order. */
  | { kind: 'read'; files: readonly FileToRead[] };

export type DiskRequest =
  | { id: number; job: DiskJob; signs: boolean }
  | { id: number; abort: true }
  /** The answer to `sign`. */
  | { id: number; signature: string };

export type DiskResponse =
  | { id: number; report: DeploymentReport }
  | { id: number; files: FileRead[] }
  | { id: number; error: string; isInvalidFile: boolean }
  /** The worker's key has to sign these bytes (base64). */
  | { id: number; sign: string }
  /** A file operation of this job, which may have ended, doesn't return. */
  | { id: number; hangs: true };

/** Both sides are of the same build, so only the types are needed. */
export const diskRequest = z.custom<DiskRequest>();
export const diskResponse = z.custom<DiskResponse>();
