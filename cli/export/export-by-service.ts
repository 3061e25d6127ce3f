import { createReadStream, createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { ZodError } from 'zod';
import { plainReason } from '../../base/plain-reason.ts';
import { measure } from '../../base/sha256.ts';
import { BundleInvalidError } from '../../bundle/errors.ts';
import { readBundleHead } from '../../bundle/read-bundle.ts';
import type { AdminApiClient, Bundle } from '../../client/admin-api-client.ts';
import type { ExportReport } from '../../contract/admin-api.ts';
import { bundleManifest } from '../../contract/bundle.ts';
import { makeFolder } from '../../programs/process/make-folder.ts';
import { CommandError } from '../command-error.ts';
import { createProgressBar } from './progress-bar.ts';
import { ExportFailed } from './run-export.ts';

const POLL_MS = 500;

export interface ServiceExport {
  jobId: string;
  pageCount: number | null;
  sizeBytes: number;
  /** The files in the bundle's manifest; like `contentSha256`, null if it can't be read. */
  fileCount: number | null;
  contentSha256: string | null;
  /** Undefined if the service has none. */
  report: ExportReport | undefined;
}

/**
 * Exports a domain by a service with the Admin API, and writes the archive to a file. Aborting the signal cancels the job.
 * @throws ExportFailed if the job fails, CommandError if the archive can't be downloaded, AdminApiError
 */
export async function exportByService(
  client: AdminApiClient,
  { domain, file, signal }: { domain: string; file: string; signal: AbortSignal },
): Promise<ServiceExport> {
  // Without the signal: Galley must know the job to cancel it.
  const { jobId } = await client.exports.start({ domain });
  try {
    const pageCount = await untilCompleted(client, jobId, { domain, signal });
    const sizeBytes = await saveBundle(await client.exports.bundle(jobId, { signal }), { file, signal });
    const content = await readContent(file);
    return { jobId, pageCount, sizeBytes, ...content, report: await obtainReport(client, jobId) };
  } catch (error) {
    if (!signal.aborted) throw error;
    // Best effort: a service may have no such endpoint.
    await client.exports.cancel(jobId).catch(() => undefined);
    throw signal.reason;
  }
}

async function untilCompleted(
  client: AdminApiClient,
  jobId: string,
  { domain, signal }: { domain: string; signal: AbortSignal },
): Promise<number | null> {
  const bar = createProgressBar(domain);
  try {
    const { status, pageCount, error } = await client.waitForJob(jobId, {
      signal,
      pollDelayMs: () => POLL_MS,
      onProgress: (job) => bar.update({ ...job, progress: job.progress ?? 0, pageCount: job.pageCount ?? 0 }),
    });
    if (status === 'completed') return pageCount;
    throw new ExportFailed(`${error ?? 'no reason given'} (job ${jobId})`, await obtainReport(client, jobId));
  } finally {
    bar.stop();
  }
}

async function readContent(file: string): Promise<Pick<ServiceExport, 'fileCount' | 'contentSha256'>> {
  try {
    const { manifest } = await readBundleHead(createReadStream(file));
    const { files, contentSha256 } = bundleManifest.parse(JSON.parse(manifest.toString('utf8')));
    return { fileCount: files.filter(({ encoding }) => encoding === undefined).length, contentSha256 };
  } catch (error) {
    if (error instanceof BundleInvalidError || error instanceof SyntaxError || error instanceof ZodError) {
      return { fileCount: null, contentSha256: null };
    }
    throw error;
  }
}

/** A service needs no report, or may have one of another kind. */
async function obtainReport(client: AdminApiClient, jobId: string): Promise<ExportReport | undefined> {
  return await client.exports.report(jobId).catch(() => undefined);
}

/** Timeout for the link's first byte; the rest may take longer. */
const ANSWER_TIMEOUT_MS = 30_000;

/**
 * Writes the archive to `file` atomically; resolves with its size in bytes.
 * @throws CommandError if the link is rejected, breaks off, or its bytes don't match the hash.
 */
async function saveBundle(
  { bundleUrl, sha256 }: Bundle,
  { file, signal }: { file: string; signal: AbortSignal },
): Promise<number> {
  await makeFolder(dirname(file));
  const partial = `${file}.${process.pid}.part`;
  const measured = measure();
  try {
    const answer = new AbortController();
    const timer = setTimeout(() => answer.abort(), ANSWER_TIMEOUT_MS);
    const ended = AbortSignal.any([signal, answer.signal]);
    const response = await fetch(bundleUrl, { signal: ended }).finally(() => clearTimeout(timer));
    if (!response.ok || !response.body) throw new CommandError(`The bundle's link responds with ${response.status}`);
    await pipeline(response.body, measured.stream, createWriteStream(partial), { signal });
    const { sizeBytes, sha256: digest } = measured.result();
    if (sha256 && digest !== sha256)
      throw new CommandError(`The bundle has the sha256 ${digest}, but ${sha256} was promised`);
    await rename(partial, file);
    return sizeBytes;
  } catch (error) {
    await rm(partial, { force: true });
    if (error instanceof CommandError) throw error;
    throw new CommandError(`The bundle could not be fetched: ${plainReason(error)}`);
  }
}
