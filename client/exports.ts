import type { z } from 'zod';
import {
  type ExportChanges,
  type ExportJobStatus,
  type ExportPreview,
  type ExportReport,
  exportChanges,
  exportPreview,
  exportReport,
  type startExportRequest,
} from '../contract/admin-api.ts';
import { createJobList, type JobList, type ListFilter } from './job-list.ts';
import { type Bundle, type ExportJob, receivedBundle, receivedExportJob, receivedId } from './job-schemas.ts';
import { type Cancellation, readCancellation, segment, sendAndRead } from './read-response.ts';
import type { CreateOptions, RequestOptions, SendRequest } from './send-request.ts';

const JOBS = '/v1/static-export/jobs';

/** Reports and changes of large sites. */
const MAX_RESULT_BYTES = 256 * 1024 * 1024;

/** The create response needs only an id. */
const startedJob = receivedExportJob.extend({ status: receivedExportJob.shape.status.catch('queued') });
const report = exportReport.extend({ jobId: receivedId });
const changes = exportChanges.extend({ since: receivedId.nullable() });

export type ExportFilter = ListFilter<ExportJobStatus> & { domain?: string | undefined };

/** The static export endpoints. Every method throws AdminApiError, or the reason of its signal. */
export function createExportsApi(send: SendRequest) {
  const jobPath = (jobId: string): string => `${JOBS}/${segment('jobId', jobId)}`;
  return {
    /** Starts a job. 409 if the domain has an active one. */
    async start(body: z.input<typeof startExportRequest>, options: CreateOptions = {}): Promise<ExportJob> {
      const { idempotencyKey = crypto.randomUUID() } = options;
      const request = { method: 'POST', path: JOBS, body, idempotencyKey } as const;
      return await sendAndRead(send, { ...request, schema: startedJob }, options);
    },

    async get(jobId: string, options: RequestOptions = {}): Promise<ExportJob> {
      const request = { method: 'GET', path: jobPath(jobId) } as const;
      return await sendAndRead(send, { ...request, schema: receivedExportJob, known: { jobId } }, options);
    },

    /** A service may have no list: 404. */
    list(filter: ExportFilter = {}, options: RequestOptions = {}): JobList<ExportJob> {
      return createJobList(send, { path: JOBS, filter, job: receivedExportJob }, options);
    },

    /** A service may not be able to cancel: 404 or 405. */
    async cancel(jobId: string, options: RequestOptions = {}): Promise<Cancellation<ExportJob>> {
      const response = await send({ method: 'POST', path: `${jobPath(jobId)}/cancel` }, options);
      return readCancellation(response, receivedExportJob);
    },

    /** Requests a new link to a completed job's archive. 409 if the job isn't completed. */
    async bundle(jobId: string, options: RequestOptions = {}): Promise<Bundle> {
      const request = { method: 'POST', path: `${jobPath(jobId)}/bundle` } as const;
      return await sendAndRead(send, { ...request, schema: receivedBundle, known: { jobId } }, options);
    },

    /** Serves a completed job's export under an unguessable URL for a while. A service may not have previews: 404 or 405. */
    async preview(jobId: string, options: RequestOptions = {}): Promise<ExportPreview> {
      const request = { method: 'POST', path: `${jobPath(jobId)}/preview` } as const;
      return await sendAndRead(send, { ...request, schema: exportPreview }, options);
    },

    /** The findings of an ended job. 409 while it runs. */
    async report(jobId: string, options: RequestOptions = {}): Promise<ExportReport> {
      const request = { method: 'GET', path: `${jobPath(jobId)}/report`, maxBytes: MAX_RESULT_BYTES } as const;
      return await sendAndRead(send, { ...request, schema: report }, options);
    },

    /** What a completed job changed since the export before. 409 while it runs. */
    async changes(jobId: string, options: RequestOptions = {}): Promise<ExportChanges> {
      const request = { method: 'GET', path: `${jobPath(jobId)}/changes`, maxBytes: MAX_RESULT_BYTES } as const;
      return await sendAndRead(send, { ...request, schema: changes }, options);
    },
  };
}
