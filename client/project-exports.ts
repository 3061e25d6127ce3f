import type { z } from 'zod';
import type { StartProjectExportRequest } from '../contract/admin-api.ts';
import { receivedBundle, receivedExportJob } from './job-schemas.ts';
import { segment, sendAndRead } from './read-response.ts';
import type { CreateOptions, RequestOptions, SendRequest } from './send-request.ts';

/** A job of form `project`; `bundleUrl` is a fresh link, missing until the job is completed. */
const receivedProjectJob = receivedExportJob.extend({
  bundleUrl: receivedBundle.shape.bundleUrl.optional().catch(undefined),
  sizeBytes: receivedBundle.shape.sizeBytes,
  expiresAt: receivedBundle.shape.expiresAt,
});
export type ProjectExportJob = z.infer<typeof receivedProjectJob>;

/** The create response needs only an id. */
const startedJob = receivedProjectJob.extend({ status: receivedExportJob.shape.status.catch('queued') });

/** Static export in form `project`. Every method throws AdminApiError, or the reason of its signal. */
export function createProjectExportsApi(send: SendRequest) {
  const jobsPath = (projectId: string): string => `/v1/static-export/${segment('projectId', projectId)}/jobs`;
  return {
    /**
     * Starts a job. 409 if the project has an active one. The published form has no idempotency: a repeated request may start
     * another job.
     */
    async start(
      projectId: string,
      body: StartProjectExportRequest = {},
      { idempotencyKey, ...options }: CreateOptions = {},
    ): Promise<ProjectExportJob> {
      const request = { method: 'POST', path: jobsPath(projectId), body } as const;
      const keyed = idempotencyKey === undefined ? request : { ...request, idempotencyKey };
      return await sendAndRead(send, { ...keyed, schema: startedJob }, options);
    },

    async get(projectId: string, jobId: string, options: RequestOptions = {}): Promise<ProjectExportJob> {
      const path = `${jobsPath(projectId)}/${segment('jobId', jobId)}`;
      return await sendAndRead(send, { method: 'GET', path, schema: receivedProjectJob, known: { jobId } }, options);
    },
  };
}
