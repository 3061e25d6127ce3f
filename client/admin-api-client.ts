import type { z } from 'zod';
import type { StartProjectExportRequest, StaticExportForm } from '../contract/admin-api.ts';
import { AdminApiError } from './admin-api-error.ts';
import { type AgentJobRef, createAgentJobsApi } from './agent-jobs.ts';
import { createExportsApi } from './exports.ts';
import { type AgentJob, type ExportJob, receivedBundle, receivedExportJob } from './job-schemas.ts';
import { segment, sendAndRead } from './read-response.ts';
import {
  type AdminApiClientOptions,
  type CreateOptions,
  createSendRequest,
  type RequestOptions,
  type SendRequest,
} from './send-request.ts';
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

    /** Which form of static export the service has: see `findForm`. */
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

/** Which of these a service has no endpoint for. */
const ABSENT = [404, 405, 501];
/** The service can't say at the moment. */
const UNDECIDED = [401, 408, 425, 429];

/**
 * Finds out which form of static export a service has, by starts with an invalid body: nothing is started. `domain` is tried
 * first; `project` needs a project's id.
 * @throws AdminApiError if neither is there (no status), the key is rejected, or the service can't be asked
 */
async function findForm(
  send: SendRequest,
  projectId: string | undefined,
  options: RequestOptions = {},
): Promise<StaticExportForm> {
  const domainPath = '/v1/static-export/jobs';
  if (await exists(send, domainPath, { domain: 0 }, options)) return 'domain';
  if (projectId === undefined) throw noForm(domainPath, 'the form `project` was not tried, because it needs projectId');
  const projectPath = `/v1/static-export/${segment('projectId', projectId)}/jobs`;
  if (await exists(send, projectPath, { basePath: 0 }, options)) return 'project';
  throw noForm(
    projectPath,
    `there is no static export, neither here nor at ${domainPath}: check adminApi.url and projectId`,
  );
}

async function exists(send: SendRequest, path: string, body: object, options: RequestOptions): Promise<boolean> {
  try {
    await send({ method: 'POST', path, body }, options);
    return true;
  } catch (error) {
    if (!(error instanceof AdminApiError) || error.status === null || error.status >= 500) throw error;
    if (ABSENT.includes(error.status)) return false;
    if (error.status < 400 || UNDECIDED.includes(error.status)) throw error;
    return true;
  }
}

function noForm(path: string, reason: string): AdminApiError {
  return new AdminApiError(`POST ${path}`, { status: null, reason });
}

/** A job of form `project`; `bundleUrl` is a fresh link, missing until the job is completed. */
const receivedProjectJob = receivedExportJob.extend({
  bundleUrl: receivedBundle.shape.bundleUrl.optional().catch(undefined),
  sizeBytes: receivedBundle.shape.sizeBytes,
  expiresAt: receivedBundle.shape.expiresAt,
});
type ProjectExportJob = z.infer<typeof receivedProjectJob>;

/** The create response needs only an id. */
const startedJob = receivedProjectJob.extend({ status: receivedExportJob.shape.status.catch('queued') });

/** Static export in form `project`. Every method throws AdminApiError, or the reason of its signal. */
function createProjectExportsApi(send: SendRequest) {
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
