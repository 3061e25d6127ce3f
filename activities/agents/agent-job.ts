import { temporaryFailure } from '../admin-api/call-admin-api.ts';
import type { AdminApiResponse } from '../admin-api/http-client.ts';
import { finalFailure } from '../admin-api/outcomes.ts';
import { field, textField } from '../admin-api/response-fields.ts';
import { unreadable } from '../admin-api/start-export.ts';

/** An agent job that has ended. */
export type FinishedAgentJob = {
  status: 'completed' | 'failed' | 'archived';
  /** The pull request's page; null if the agent changed no file or the job failed. */
  prLink: string | null;
  /** Why it failed, if the service says so. */
  error: string | null;
};

/** An agent's error may be the end of its output; a longer one is cut. */
const MAX_ERROR = 2_000;

/** No pull request has a longer URL. */
const MAX_LINK = 2_000;

/** Project and job ids are opaque, so escape them. */
export function agentJobPath({ projectId, jobId }: { projectId: string; jobId?: string }): string {
  const job = `/v2/agent/${encodeURIComponent(projectId)}/job`;
  return jobId === undefined ? job : `${job}/${encodeURIComponent(jobId)}`;
}

/** A job's end, or its status: an unknown status means the job is still running. */
export function readAgentJob(response: AdminApiResponse): { finished: FinishedAgentJob } | { running: string } {
  const status = textField(response, 'status')?.toLowerCase();
  if (status === undefined)
    throw temporaryFailure(unreadable(response.status, 'status', response.text), response.status);
  if (status !== 'completed' && status !== 'failed' && status !== 'archived') return { running: status };
  const error = field(response, 'error');
  const said = typeof error === 'string' && error.trim() !== '' ? error.slice(0, MAX_ERROR) : null;
  // A failed job's `prLink` may be anything, and mustn't hide the error.
  return { finished: { status, prLink: status === 'failed' ? null : linkOf(response), error: said } };
}

/** People read it and mails link to it, so accept web URLs only. */
function linkOf(response: AdminApiResponse): string | null {
  const value = field(response, 'prLink');
  if (value === undefined || value === null || value === '') return null;
  if (typeof value === 'string' && value.length <= MAX_LINK && URL.canParse(value)) {
    if (/^https?:$/.test(new URL(value).protocol)) return value;
  }
  throw finalFailure('Rejected', 'the Admin API gave a prLink that is not a web URL', response.status);
}
