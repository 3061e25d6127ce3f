import { setTimeout as sleep } from 'node:timers/promises';
import { type ExportReport, exportReport } from '../../contract/admin-api.ts';
import { type AdminApi, cancelExport, createBundle, readExport, readReport, startExport } from './admin-api-client.ts';
import { downloadBundle } from './download-bundle.ts';
import { createProgressBar } from './progress-bar.ts';
import { ExportFailed } from './run-export.ts';

const POLL_MS = 500;

export interface ServiceExport {
  jobId: string;
  pageCount: number | null;
  sizeBytes: number;
  /** Undefined if the service has none. */
  report: ExportReport | undefined;
}

/**
 * Exports a domain by a service with the Admin API, and writes the archive to a file. Aborting the signal cancels the job.
 * @throws ExportFailed if the job fails, CommandError if it is rejected or the archive can't be downloaded
 */
export async function exportByService(
  api: AdminApi,
  { domain, file, signal }: { domain: string; file: string; signal: AbortSignal },
): Promise<ServiceExport> {
  const jobId = await startExport(api, domain);
  try {
    const pageCount = await untilCompleted(api, jobId, { domain, signal });
    const sizeBytes = await downloadBundle(await createBundle(api, jobId), file);
    return { jobId, pageCount, sizeBytes, report: await obtainReport(api, jobId) };
  } catch (error) {
    if (!signal.aborted) throw error;
    await cancelExport(api, jobId);
    throw signal.reason;
  }
}

async function untilCompleted(
  api: AdminApi,
  jobId: string,
  { domain, signal }: { domain: string; signal: AbortSignal },
): Promise<number | null> {
  const bar = createProgressBar(domain);
  try {
    for (;;) {
      signal.throwIfAborted();
      const { status, progress, pageCount, error } = await readExport(api, jobId);
      bar.update({ status, progress: progress ?? 0, pageCount: pageCount ?? 0 });
      if (status === 'completed') return pageCount ?? null;
      if (status === 'failed') {
        throw new ExportFailed(`${error ?? 'no reason given'} (job ${jobId})`, await obtainReport(api, jobId));
      }
      await sleep(POLL_MS, undefined, { signal });
    }
  } finally {
    bar.stop();
  }
}

/** A service needs no report, or may have one of another kind. */
async function obtainReport(api: AdminApi, jobId: string): Promise<ExportReport | undefined> {
  const response = await readReport(api, jobId).catch(() => undefined);
  return exportReport.safeParse(response).data;
}
