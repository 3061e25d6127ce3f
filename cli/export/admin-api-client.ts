import { z } from 'zod';
import { requestJson } from '../request-json.ts';

/** A service's Admin API and the key that opens it. */
export interface AdminApi {
  url: string;
  key: string;
}

/** Only the specified fields are needed, so that any service with this API works; others are used if present. */
const startedJob = z.looseObject({ jobId: z.string().min(1) });
const jobState = z.looseObject({
  status: z.string(),
  progress: z.number().nullish().catch(null),
  pageCount: z.number().nullish().catch(null),
  error: z.string().nullish().catch(null),
});
const bundleLink = z.looseObject({ bundleUrl: z.url(), sha256: z.string().nullish().catch(null) });

export type JobState = z.infer<typeof jobState>;
export type BundleLink = z.infer<typeof bundleLink>;

const JOBS = '/v1/static-export/jobs';

export async function startExport({ url, key }: AdminApi, domain: string): Promise<string> {
  const answer = await requestJson({ url: at(url, JOBS), token: key, method: 'POST', body: { domain } });
  return startedJob.parse(answer).jobId;
}

export async function readExport({ url, key }: AdminApi, jobId: string): Promise<JobState> {
  return jobState.parse(await requestJson({ url: at(url, `${JOBS}/${encodeURIComponent(jobId)}`), token: key }));
}

export async function createBundle({ url, key }: AdminApi, jobId: string): Promise<BundleLink> {
  const path = `${JOBS}/${encodeURIComponent(jobId)}/bundle`;
  return bundleLink.parse(await requestJson({ url: at(url, path), token: key, method: 'POST' }));
}

/** The job's report from the service. Throws if the service has none. */
export async function readReport({ url, key }: AdminApi, jobId: string): Promise<unknown> {
  return requestJson({ url: at(url, `${JOBS}/${encodeURIComponent(jobId)}/report`), token: key });
}

/** Best effort: a service may have no such endpoint. */
export async function cancelExport({ url, key }: AdminApi, jobId: string): Promise<void> {
  const path = `${JOBS}/${encodeURIComponent(jobId)}/cancel`;
  await requestJson({ url: at(url, path), token: key, method: 'POST' }).catch(() => undefined);
}

/** A base URL may have a path. */
function at(base: string, path: string): URL {
  return new URL(`${base.replace(/\/+$/, '')}${path}`);
}
