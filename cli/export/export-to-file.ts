import { setTimeout as sleep } from 'node:timers/promises';
import { CommandError } from '../command-error.ts';
import { type AdminApi, cancelExport, createBundle, readExport, startExport } from './admin-api-client.ts';
import { downloadBundle } from './download-bundle.ts';
import type { ProgressBar } from './progress-bar.ts';

const POLL_MS = 500;

interface Request {
  domain: string;
  /** The archive's file. */
  file: string;
  bar: ProgressBar;
  /** Aborting it cancels the job. */
  signal: AbortSignal;
}

export interface Exported {
  jobId: string;
  pageCount: number | null;
  sizeBytes: number;
}

/** Thrown if the job failed; its report may say more. */
export class ExportFailed extends CommandError {
  readonly jobId: string;

  constructor(jobId: string, reason: string) {
    super(`The export ${jobId} failed: ${reason}`);
    this.jobId = jobId;
  }
}

/**
 * Exports a domain and writes the archive to a file.
 * @throws ExportFailed if the job fails, CommandError if it is rejected or the archive can't be downloaded.
 */
export async function exportToFile(api: AdminApi, { domain, file, bar, signal }: Request): Promise<Exported> {
  const jobId = await startExport(api, domain);
  try {
    const pageCount = await untilCompleted(api, jobId, { bar, signal });
    const sizeBytes = await downloadBundle(await createBundle(api, jobId), file);
    return { jobId, pageCount, sizeBytes };
  } catch (error) {
    if (signal.aborted) await cancelExport(api, jobId);
    throw error;
  }
}

async function untilCompleted(
  api: AdminApi,
  jobId: string,
  { bar, signal }: Pick<Request, 'bar' | 'signal'>,
): Promise<number | null> {
  try {
    for (;;) {
      signal.throwIfAborted();
      const state = await readExport(api, jobId);
      bar.update(state);
      if (state.status === 'completed') return state.pageCount ?? null;
      if (state.status === 'failed') throw new ExportFailed(jobId, state.error ?? 'no reason given');
      await sleep(POLL_MS, undefined, { signal });
    }
  } finally {
    bar.stop();
  }
}
