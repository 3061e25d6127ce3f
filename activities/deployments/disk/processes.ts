import { spawn } from 'node:child_process';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ApplicationFailure } from '@temporalio/common';
import { JobProcess } from '../../../base/job-process.ts';
import type { DeploymentReport } from '../deployment-target.ts';
import { ValuesFileError } from '../edit-values.ts';
import type { DiskJob, DiskResult, DiskWork, FileRead, FileToRead } from './messages.ts';

type Options = {
  /** Jobs of one process at a time. Further ones start another process. */
  jobsAtOnce: number;
  /** A file operation that takes longer never returns. */
  hangsAfterMs: number;
};

type WriteJob = Extract<DiskJob, { kind: 'write' }>;
type Signer = { sign(bytes: Uint8Array): string | Promise<string> };
type JobOptions = {
  signal?: AbortSignal | undefined;
  /** Signs what is written, if it is signed: the key stays in this process. */
  signer?: Signer | undefined;
};
type DiskProcess = JobProcess<DiskWork, Signer | undefined>;

type DiskProcesses = {
  /** Throws what the target throws, and a final `FileSystemHangs`. */
  write(job: Omit<WriteJob, 'kind' | 'signs'>, options: JobOptions): Promise<DeploymentReport>;
  /** Reads what operators set in values files, in the same order. One that can't be read delays no other. */
  read(files: readonly FileToRead[]): Promise<FileRead[]>;
};

/** Each file operation needs a thread, and a job may have dozens at a time. */
const THREADS = 128;

/** Also counts those that were killed but don't end, because a file system holds them. */
const MAX_PROCESSES = 24;

const IDLE_MS = 30_000;

/**
 * Accesses file systems in processes of their own. An operation on one that hangs, such as a network mount without its
 * server, blocks a thread for good, and Node has only four for all files and host names. A process with such a thread
 * gets no further jobs and is killed once its other jobs have ended; the next job starts a new one. Nothing has to be
 * closed: the processes end when they are idle, or with this process.
 */
export function createDiskProcesses({ jobsAtOnce, hangsAfterMs }: Options): DiskProcesses {
  const processes = new Set<DiskProcess>();

  function freeProcess(): DiskProcess {
    const free = [...processes].find((each) => each.takesJobs && each.load < jobsAtOnce);
    if (free !== undefined) return free;
    if (processes.size >= MAX_PROCESSES) throw hangs('too many file systems do not respond');
    const started = startProcess(hangsAfterMs, () => processes.delete(started));
    processes.add(started);
    return started;
  }

  async function run(job: DiskJob, { signal, signer }: JobOptions = {}): Promise<DiskResult> {
    return await freeProcess().run(job, signer, signal);
  }

  return {
    async write(job, options) {
      const result = await run({ kind: 'write', ...job, signs: options.signer !== undefined }, options);
      if ('report' in result) return result.report;
      if ('hangs' in result) throw hangs(`the file system of ${job.target.settings} does not respond`);
      if ('files' in result) throw new Error('a write got the result of a read');
      throw result.isInvalidFile ? new ValuesFileError(result.error) : new Error(result.error);
    },

    async read(files) {
      const result = await run({ kind: 'read', files });
      return 'files' in result ? result.files : files.map(() => 'unreadable');
    },
  };
}

/** A file operation of a link takes milliseconds. A write ends by this before its attempt times out. */
const FILE_HANGS_AFTER_MS = 4_000;
/** It may take long until a large archive is on a slow disk. */
const FOLDER_HANGS_AFTER_MS = 60_000;

/** Those of this process, for each kind: folders on a disk that hangs delay no values file. */
export const diskProcesses = {
  valuesFile: createDiskProcesses({ jobsAtOnce: 16, hangsAfterMs: FILE_HANGS_AFTER_MS }),
  directory: createDiskProcesses({ jobsAtOnce: 3, hangsAfterMs: FOLDER_HANGS_AFTER_MS }),
  airgap: createDiskProcesses({ jobsAtOnce: 3, hangsAfterMs: FOLDER_HANGS_AFTER_MS }),
};

/** Temporal doesn't retry it, because each attempt costs a process: the workflow's back-off is longer. */
function hangs(message: string): ApplicationFailure {
  return ApplicationFailure.nonRetryable(message, 'FileSystemHangs');
}

function startProcess(hangsAfterMs: number, onEnd: () => void): DiskProcess {
  const program = fileURLToPath(new URL(`./process${extname(import.meta.url)}`, import.meta.url));
  const command = [process.execPath, ...process.execArgv, program, String(hangsAfterMs)];
  // It has the environment of this process, such as the certificates of object stores.
  const child = spawn('/bin/sh', ['-c', `UV_THREADPOOL_SIZE=${THREADS} exec "$0" "$@"`, ...command], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const started: DiskProcess = new JobProcess(child, {
    idleMs: IDLE_MS,
    onNotice(notice, job) {
      if ('sign' in notice) {
        if (job?.context !== undefined) void sign(job.context, notice.sign).then(job.reply, job.fail);
      } else {
        started.retire();
        job?.end(notice);
      }
    },
    endedError: () => new Error('the process that accesses the files has ended'),
    onEnd,
  });
  return started;
}

async function sign(signer: Signer, bytes: string): Promise<string> {
  return await signer.sign(Buffer.from(bytes, 'base64'));
}
