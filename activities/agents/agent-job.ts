import { field, textField } from '../admin-api/answer-fields.ts';
import type { AdminApiAnswer } from '../admin-api/http-client.ts';
import { finalFailure } from '../admin-api/outcomes.ts';
import { troubleFailure } from '../admin-api/patient-call.ts';
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
export function readAgentJob(answer: AdminApiAnswer): { finished: FinishedAgentJob } | { running: string } {
  const status = textField(answer, 'status')?.toLowerCase();
  if (status === undefined) throw troubleFailure(unreadable(answer.status, 'status', answer.text), answer.status);
  if (status !== 'completed' && status !== 'failed' && status !== 'archived') return { running: status };
  const error = field(answer, 'error');
  const said = typeof error === 'string' && error.trim() !== '' ? error.slice(0, MAX_ERROR) : null;
  // A failed job's `prLink` may be anything, and mustn't hide the error.
  return { finished: { status, prLink: status === 'failed' ? null : linkOf(answer), error: said } };
}

/** People read it and mails link to it, so accept web URLs only. */
function linkOf(answer: AdminApiAnswer): string | null {
  const value = field(answer, 'prLink');
  if (value === undefined || value === null || value === '') return null;
  if (typeof value === 'string' && value.length <= MAX_LINK && URL.canParse(value)) {
    if (/^https?:$/.test(new URL(value).protocol)) return value;
  }
  throw finalFailure('Rejected', 'the Admin API gave a prLink that is not a web URL', answer.status);
}
