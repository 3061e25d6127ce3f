import { setTimeout as sleep } from 'node:timers/promises';
import { CommandError } from '../command-error.ts';
import { type AdminApi, cancelExport, createBundle, readExport, startExport } from './admin-api-client.ts';
import { downloadBundle } from './download-bundle.ts';
import type { ProgressBar } from './progress-bar.ts';

const POLL_MS = 500;

interface Request {
  domain: string;
  /** Where the archive goes. */
  file: string;
  bar: ProgressBar;
  /** Aborted: the job is cancelled. */
  signal: AbortSignal;
}

export interface Exported {
  jobId: string;
  pageCount: number | null;
  sizeBytes: number;
}

/** Thrown when the job failed; its report may say more. */
export class ExportFailed extends CommandError {
  readonly jobId: string;

  constructor(jobId: string, reason: string) {
    super(`The export ${jobId} failed: ${reason}`);
    this.jobId = jobId;
  }
}

/**
 * Exports a domain and puts the archive in a file.
 * @throws ExportFailed when the job fails, CommandError when it is refused or the archive can't be fetched.
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
