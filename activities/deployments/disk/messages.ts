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
  | { kind: 'write'; target: DiskTarget; write: DeploymentWrite; createUnder?: string | undefined; signs: boolean }
  /** The result has one entry for each file, in the same order. */
  | { kind: 'read'; files: readonly FileToRead[] };

export type DiskResult =
  | { report: DeploymentReport }
  | { files: FileRead[] }
  | { error: string; isInvalidFile: boolean }
  /** A file operation of this job doesn't return. */
  | { hangs: true };

export type DiskWork = {
  job: DiskJob;
  result: DiskResult;
  /** The worker's key has to sign these bytes (base64): the reply is the signature. `hangs` may come after the result. */
  notice: { sign: string } | { hangs: true };
  reply: string;
};
