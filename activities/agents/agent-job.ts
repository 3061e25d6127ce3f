import { field, textField } from '../admin-api/answer-fields.ts';
import type { AdminApiAnswer } from '../admin-api/http-client.ts';
import { finalFailure } from '../admin-api/outcomes.ts';
import { troubleFailure } from '../admin-api/patient-call.ts';
import { unreadable } from '../admin-api/start-export.ts';

/** An agent job that is over. */
export type FinishedAgentJob = {
  status: 'completed' | 'failed' | 'archived';
  /** The pull request's page; null where no file was changed, or the job failed. */
  prLink: string | null;
  /** Why it failed, where the service tells. */
  error: string | null;
};

/** An agent's error may be the end of what it printed; longer ones are cut. */
const MAX_ERROR = 2_000;

/** Longer addresses exist, but none of a pull request. */
const MAX_LINK = 2_000;

/** Projects and jobs are opaque: whatever stands in an id stays one part of the path. */
export function agentJobPath({ projectId, jobId }: { projectId: string; jobId?: string }): string {
  const job = `/v2/agent/${encodeURIComponent(projectId)}/job`;
  return jobId === undefined ? job : `${job}/${encodeURIComponent(jobId)}`;
}

/** A job's end, or the word for how it stands: a status that isn't known as an end means it still runs. */
export function readAgentJob(answer: AdminApiAnswer): { finished: FinishedAgentJob } | { running: string } {
  const status = textField(answer, 'status')?.toLowerCase();
  if (status === undefined) throw troubleFailure(unreadable(answer.status, 'status', answer.text), answer.status);
  if (status !== 'completed' && status !== 'failed' && status !== 'archived') return { running: status };
  const error = field(answer, 'error');
  const said = typeof error === 'string' && error.trim() !== '' ? error.slice(0, MAX_ERROR) : null;
  // Whatever a failed job left there mustn't hide why it failed.
  return { finished: { status, prLink: status === 'failed' ? null : linkOf(answer), error: said } };
}

/** Read by people and put into mails, so nothing but a web address may stand there. */
function linkOf(answer: AdminApiAnswer): string | null {
  const value = field(answer, 'prLink');
  if (value === undefined || value === null || value === '') return null;
  if (typeof value === 'string' && value.length <= MAX_LINK && URL.canParse(value)) {
    if (/^https?:$/.test(new URL(value).protocol)) return value;
  }
  throw finalFailure('Rejected', 'the Admin API told a prLink that is no web address', answer.status);
}
