import { createAdminApiClient } from '../../client/admin-api-client.ts';

export interface Project {
  id: string;
  domain: string;
  /** An API key of a separate organization, so that hourly limits don't apply. */
  key: string;
}

export interface FinishedExport {
  jobId: string;
  pageCount: number;
  /** From the start request to the first response from the bundle's link. */
  seconds: number;
  sizeBytes: number;
}

/** Poll intervals: short at first, so that polling adds little to a short export. */
export const POLL_MS = { young: 50, old: 250, oldAfter: 5_000 } as const;

/** Exports a project as a client of the Admin API does: start, poll, request the link, download from it. */
export async function exportOverHttp(url: string, project: Project, signal: AbortSignal): Promise<FinishedExport> {
  const client = createAdminApiClient({ url, key: project.key });
  const startedMs = performance.now();
  const { jobId } = await client.exports.start({ domain: project.domain }, { signal });
  const { status, pageCount, error } = await client.waitForJob(jobId, {
    signal,
    pollDelayMs: (waitedMs) => (waitedMs < POLL_MS.oldAfter ? POLL_MS.young : POLL_MS.old),
  });
  if (status !== 'completed') throw new Error(`The export ended as ${status}: ${error}`);
  const { bundleUrl, sizeBytes } = await client.exports.bundle(jobId, { signal });
  const link = await fetch(bundleUrl, { headers: { range: 'bytes=0-0' }, signal });
  await link.arrayBuffer();
  if (!link.ok) throw new Error(`The bundle's link responded with ${link.status}`);
  const seconds = (performance.now() - startedMs) / 1_000;
  return { jobId, pageCount: pageCount ?? 0, seconds, sizeBytes: sizeBytes ?? 0 };
}
