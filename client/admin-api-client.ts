import type { AgentJobRef } from './agent-jobs.ts';
import { createAgentJobsApi } from './agent-jobs.ts';
import { createExportsApi } from './exports.ts';
import { findForm } from './find-form.ts';
import type { AgentJob, ExportJob } from './job-schemas.ts';
import { createProjectExportsApi } from './project-exports.ts';
import { type AdminApiClientOptions, createSendRequest, type RequestOptions } from './send-request.ts';
import { type WaitOptions, waitForEnd } from './wait-for-end.ts';

export { AdminApiError } from './admin-api-error.ts';
export type { AgentJobFilter, AgentJobRef } from './agent-jobs.ts';
export type { ExportFilter } from './exports.ts';
export type { JobList, JobPage } from './job-list.ts';
export type { AgentJob, Bundle, ExportJob } from './job-schemas.ts';
export type { Cancellation } from './read-response.ts';
export type { RetryPolicy } from './retry-delay.ts';
export type { AdminApiClientOptions, AdminApiResponse, CreateOptions, RequestOptions } from './send-request.ts';
export type { WaitOptions } from './wait-for-end.ts';

export type EndedExport = ExportJob & { status: 'completed' | 'failed' };
export type EndedAgentJob = AgentJob & { status: 'completed' | 'failed' | 'archived' };

export type AdminApiClient = ReturnType<typeof createAdminApiClient>;

/**
 * Makes a client of any service with the Admin API. It retries failed requests, follows no redirects, and puts the key
 * into no error.
 * @throws TypeError if the URL or the key can't be used.
 */
export function createAdminApiClient(options: AdminApiClientOptions) {
  const send = createSendRequest(options);
  const exports = createExportsApi(send);
  const agentJobs = createAgentJobsApi(send);
  return {
    exports,
    /** Static export in form `project`. */
    projectExports: createProjectExportsApi(send),
    agentJobs,

    /** Which form of static export the service has; see find-form.ts. */
    findForm: (projectId?: string, options: RequestOptions = {}) => findForm(send, projectId, options),

    /** Resolves with an export job once it is completed or failed. */
    async waitForJob(jobId: string, options: WaitOptions<ExportJob> = {}): Promise<EndedExport> {
      const read = (request: RequestOptions) => exports.get(jobId, request);
      return await waitForEnd({ id: jobId, read, isEnded: isEndedExport }, options);
    },

    /** Resolves with an agent job once it isn't active. */
    async waitForAgentJob(job: AgentJobRef, options: WaitOptions<AgentJob> = {}): Promise<EndedAgentJob> {
      const read = (request: RequestOptions) => agentJobs.get(job, request);
      return await waitForEnd({ id: job.id, read, isEnded: isEndedAgentJob }, options);
    },
  };
}

function isEndedExport(job: ExportJob): job is EndedExport {
  return job.status === 'completed' || job.status === 'failed';
}

function isEndedAgentJob(job: AgentJob): job is EndedAgentJob {
  return job.status !== 'active';
}
