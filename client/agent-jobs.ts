import type { AgentJobStatus } from '../contract/admin-api.ts';
import { createJobList, type JobList, type ListFilter } from './job-list.ts';
import { type AgentJob, receivedAgentJob } from './job-schemas.ts';
import { type Cancellation, readCancellation, segment, sendAndRead, unreadable } from './read-response.ts';
import type { CreateOptions, RequestOptions, SendRequest } from './send-request.ts';

/** Names an agent job. */
export type AgentJobRef = { projectId: string; id: string };

export type AgentJobFilter = ListFilter<AgentJobStatus> & { projectId: string };

const MAX_LOG_BYTES = 256 * 1024 * 1024;

/** A response to these requests needs no status. */
const activeJob = receivedAgentJob.extend({ status: receivedAgentJob.shape.status.catch('active') });
const archivedJob = receivedAgentJob.extend({ status: receivedAgentJob.shape.status.catch('archived') });

/** The agent job endpoints. Every method throws AdminApiError, or the reason of its signal. */
export function createAgentJobsApi(send: SendRequest) {
  const projectPath = (projectId: string): string => `/v2/agent/${segment('projectId', projectId)}`;
  const jobPath = ({ projectId, id }: AgentJobRef): string => `${projectPath(projectId)}/job/${segment('id', id)}`;

  async function sendPrompt(path: string, prompt: string, options: CreateOptions, known = {}): Promise<AgentJob> {
    const { idempotencyKey = crypto.randomUUID() } = options;
    const request = { method: 'POST', path, body: { prompt }, idempotencyKey } as const;
    return await sendAndRead(send, { ...request, schema: activeJob, known }, options);
  }

  return {
    /** Creates a job that carries out the prompt. */
    async create(
      { projectId, prompt }: { projectId: string; prompt: string },
      options: CreateOptions = {},
    ): Promise<AgentJob> {
      return await sendPrompt(`${projectPath(projectId)}/job`, prompt, options);
    },

    async get(job: AgentJobRef, options: RequestOptions = {}): Promise<AgentJob> {
      const request = { method: 'GET', path: jobPath(job) } as const;
      return await sendAndRead(send, { ...request, schema: receivedAgentJob, known: { id: job.id } }, options);
    },

    list({ projectId, ...filter }: AgentJobFilter, options: RequestOptions = {}): JobList<AgentJob> {
      return createJobList(send, { path: `${projectPath(projectId)}/jobs`, filter, job: receivedAgentJob }, options);
    },

    /** Sends a follow-up prompt to a completed or failed job, which becomes active again. */
    async message(
      { prompt, ...job }: AgentJobRef & { prompt: string },
      options: CreateOptions = {},
    ): Promise<AgentJob> {
      return await sendPrompt(`${jobPath(job)}/message`, prompt, options, { id: job.id });
    },

    async cancel(job: AgentJobRef, options: RequestOptions = {}): Promise<Cancellation<AgentJob>> {
      const response = await send({ method: 'POST', path: `${jobPath(job)}/cancel` }, options);
      return readCancellation(response, receivedAgentJob);
    },

    /** An archived job takes no more messages. 409 for an active one. */
    async archive(job: AgentJobRef, options: RequestOptions = {}): Promise<AgentJob> {
      const request = { method: 'POST', path: `${jobPath(job)}/archive` } as const;
      return await sendAndRead(send, { ...request, schema: archivedJob, known: { id: job.id } }, options);
    },

    /**
     * What the job's agent printed. A service may have no log: 404.
     * @param options.endBytes only this many bytes from the end
     */
    async log(
      job: AgentJobRef,
      { endBytes, ...options }: RequestOptions & { endBytes?: number } = {},
    ): Promise<string> {
      const request = { method: 'GET', path: `${jobPath(job)}/log` } as const;
      const limit = endBytes === undefined ? { maxBytes: MAX_LOG_BYTES } : { endBytes };
      const response = await send({ ...request, ...limit }, options);
      if (!/^text\/plain\b/i.test(response.contentType)) throw unreadable(request, response, 'log');
      return response.text;
    },
  };
}
