import { type ChildProcess, spawn } from 'node:child_process';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ApplicationFailure } from '@temporalio/common';
import type { DeploymentReport } from '../deployment-target.ts';
import { ValuesFileError } from '../edit-values.ts';
import {
  type DiskJob,
  type DiskRequest,
  type DiskResponse,
  diskResponse,
  type FileRead,
  type FileToRead,
} from './messages.ts';

type Options = {
  /** Jobs of one process at a time. Further ones start another process. */
  jobsAtOnce: number;
  /** A file operation that takes longer never returns. */
  hangsAfterMs: number;
};

type WriteJob = Extract<DiskJob, { kind: 'write' }>;
type JobOptions = {
  signal?: AbortSignal | undefined;
  /** Signs what is written, if it is signed: the key stays in this process. */
  signer?: { sign(bytes: Uint8Array): string | Promise<string> } | undefined;
};

type DiskProcesses = {
  /** Throws what the target throws, and a final `FileSystemHangs`. */
  write(job: Omit<WriteJob, 'kind'>, options: JobOptions): Promise<DeploymentReport>;
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

  async function run(job: DiskJob, options: JobOptions = {}): Promise<Result> {
    const free = [...processes].find((each) => each.takesJobs && each.jobs < jobsAtOnce);
    if (free !== undefined) return await free.run(job, options);
    if (processes.size >= MAX_PROCESSES) throw hangs('too many file systems do not respond');
    const started = new DiskProcess(hangsAfterMs, () => processes.delete(started));
    processes.add(started);
    return await started.run(job, options);
  }

  return {
    async write(job, options) {
      const result = await run({ kind: 'write', ...job }, options);
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

type Result = Exclude<DiskResponse, { sign: string }>;
type Job = { end(result: Result): void; fail(error: Error): void; signer: JobOptions['signer'] };

let lastId = 0;

class DiskProcess {
  readonly #child: ChildProcess;
  readonly #jobs = new Map<number, Job>();
  #takesJobs = true;
  #idle: NodeJS.Timeout | undefined;

  constructor(hangsAfterMs: number, onEnd: () => void) {
    const program = fileURLToPath(new URL(`./process${extname(import.meta.url)}`, import.meta.url));
    const command = [process.execPath, ...process.execArgv, program, String(hangsAfterMs)];
    // It has the environment of this process, such as the certificates of object stores.
    this.#child = spawn('/bin/sh', ['-c', `UV_THREADPOOL_SIZE=${THREADS} exec "$0" "$@"`, ...command], {
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    const end = (): void => {
      this.#takesJobs = false;
      onEnd();
      for (const { fail } of this.#jobs.values()) fail(new Error('the process that accesses the files has ended'));
    };
    this.#child.on('exit', end).on('error', end);
    this.#child.on('message', (message) => this.#receive(diskResponse.parse(message)));
  }

  get takesJobs(): boolean {
    return this.#takesJobs;
  }

  get jobs(): number {
    return this.#jobs.size;
  }

  async run(job: DiskJob, { signal, signer }: JobOptions): Promise<Result> {
    signal?.throwIfAborted();
    clearTimeout(this.#idle);
    this.#child.ref();
    this.#child.channel?.ref();
    const id = ++lastId;
    const abort = (): void => this.#send({ id, abort: true });
    signal?.addEventListener('abort', abort);
    try {
      return await new Promise((end, fail) => {
        this.#jobs.set(id, { end, fail, signer });
        this.#send({ id, job, signs: signer !== undefined }, fail);
      });
    } finally {
      signal?.removeEventListener('abort', abort);
      this.#jobs.delete(id);
      this.#endIfUnused();
    }
  }

  #send(request: DiskRequest, fail: (error: Error) => void = () => undefined): void {
    this.#child.send(request, (error) => error && fail(error));
  }

  #receive(response: DiskResponse): void {
    const { id } = response;
    const job = this.#jobs.get(id);
    if ('sign' in response) return void this.#sign(id, response.sign, job);
    if ('hangs' in response) this.#takesJobs = false;
    if (job === undefined) this.#endIfUnused();
    else job.end(response);
  }

  async #sign(id: number, bytes: string, job: Job | undefined): Promise<void> {
    try {
      const signature = await job?.signer?.sign(Buffer.from(bytes, 'base64'));
      if (signature !== undefined) this.#send({ id, signature });
    } catch (error) {
      job?.fail(error instanceof Error ? error : new Error(String(error)));
    }
  }

  #endIfUnused(): void {
    if (this.#jobs.size > 0) return;
    this.#child.unref();
    this.#child.channel?.unref();
    if (!this.#takesJobs) this.#child.kill('SIGKILL');
    else this.#idle = setTimeout(() => this.#child.kill('SIGKILL'), IDLE_MS).unref();
  }
}
