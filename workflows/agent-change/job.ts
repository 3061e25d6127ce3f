import { ActivityCancellationType, isCancellation, proxyActivities, workflowInfo } from '@temporalio/workflow';
import type { FinishedAgentJob } from '../../activities/agents/agent-job.ts';
import type { Activities } from '../../activities/create-activities.ts';
import { formatDurationMs } from '../../contract/duration.ts';
import { readFailure } from '../failures/read-failure.ts';
import { adminApiCall, inPool, quickActivity } from '../retry/activity-timeouts.ts';
import { retryUntil } from '../retry/retry-until.ts';
import { notifyPullRequest } from './notifications.ts';
import { isTooLate } from './schedule.ts';
import { type ChangeRun, inProgress, type State } from './state.ts';
import {
  addNote,
  beginWork,
  end,
  failChange,
  jobCreated,
  promptRendered,
  pullRequestOpened,
  responseLost,
  setLastWords,
} from './transitions.ts';

/** A canceled request is awaited, to know whether the service has created the job. */
const { createAgentJob } = proxyActivities<Activities>({
  ...adminApiCall,
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
});

const { pollAgentJob } = proxyActivities<Activities>({
  ...adminApiCall,
  cancellationType: ActivityCancellationType.TRY_CANCEL,
});

/** Optional, so the change doesn't wait longer for a service that is down. */
const { readLastWords } = proxyActivities<Activities>({ ...adminApiCall, scheduleToCloseTimeout: '1m' });

/** Optional as well. */
const { cancelAgentJob } = proxyActivities<Activities>({ ...adminApiCall, scheduleToCloseTimeout: '30s' });

const { renderAgentPrompt } = proxyActivities<Activities>({
  ...quickActivity,
  ...inPool('admin-api'),
  startToCloseTimeout: '10s',
});

/** A job that hasn't ended by then never will. */
const JOB_TIMEOUT_MS = 24 * 3_600_000;

export const NEVER_ENDED = `didn't end within ${formatDurationMs(JOB_TIMEOUT_MS)} and was given up`;

/** A poll gets at least this much time, even after the timeout: the job may have ended meanwhile. */
const LAST_POLL_MS = 5_000;

/** Creates the job. Retries until the change expires. */
export async function submit(run: ChangeRun): Promise<void> {
  const { site, rule, state } = run;
  const isOver = (): boolean => state.phase !== 'prompting' || isTooLate(run);
  const prompt = await render(run, isOver);
  if (prompt === null) return;
  // One key for the whole change, so that retries create no second job.
  const idempotencyKey = `${workflowInfo().firstExecutionRunId}:1`;
  const summary = `prompt by the rule ${rule} for ${state.eventCount} event(s)`.slice(0, 200);
  const create = () =>
    inProgress(run, async () => {
      const input = { site, rule, ...prompt, idempotencyKey };
      const created = await createAgentJob.executeWithOptions({ summary }, [input]).catch((error: unknown) => {
        if (isUnanswered(error)) responseLost(state);
        throw error;
      });
      // Before anything else can happen: a cancel that comes now needs the job.
      jobCreated(state, created, Date.now());
      return created;
    });
  const outcome = await retryUntil(state, create, isOver);
  if (state.job !== null) beginWork(state);
  else if (outcome !== undefined && 'failure' in outcome) failChange(state, outcome.failure.message);
  else if (state.phase === 'prompting') end(state, 'expired');
}

/**
 * Renders the prompt once: after an edit of the rule, the service would reject another prompt with the same key. Null if
 * the change ended.
 */
async function render(run: ChangeRun, isOver: () => boolean): Promise<ChangeRun['state']['prompt']> {
  const { site, rule, state } = run;
  if (state.prompt !== null) return state.prompt;
  const { events, eventCount } = state;
  const summary = `prompt of the rule ${rule}`;
  const call = () => renderAgentPrompt.executeWithOptions({ summary }, [{ site, rule, events, eventCount }]);
  const outcome = await retryUntil(state, call, isOver);
  if (state.phase !== 'prompting') return null;
  if (outcome === undefined) end(state, 'expired');
  else if ('failure' in outcome) failChange(state, outcome.failure.message);
  else promptRendered(state, outcome.value);
  return state.prompt;
}

/** Waits for the end of the job, through outages of the service. */
export async function waitForJob(run: ChangeRun): Promise<void> {
  const { state } = run;
  const { jobId } = jobOf(state);
  const outcome = await pollUntilEnd(
    run,
    state.job?.createdAtMs ?? 0,
    () => state.phase !== 'working' || isTooLate(run),
  );
  if (outcome === undefined) {
    if (state.phase === 'working') end(state, 'expired');
  } else if ('value' in outcome) {
    if (resultOf(outcome.value) === 'unchanged') setLastWords(state, await lastWordsOf(run));
    applyResult(run, outcome.value);
  } else if (outcome.failure.type === 'TimedOut') {
    await cancelChangeJob(run, 'it took too long');
    failChange(state, `${jobId} ${NEVER_ENDED}`);
  } else failChange(state, outcome.failure.message);
}

/** Polls the job until it ends, through outages of the service, for at most 24 hours since it began to work. */
export async function pollUntilEnd(
  { state }: ChangeRun,
  sinceMs: number,
  isOver: () => boolean,
): ReturnType<typeof retryUntil<FinishedAgentJob>> {
  const job = jobOf(state);
  const poll = (): Promise<FinishedAgentJob> => {
    const leftMs = sinceMs + JOB_TIMEOUT_MS - Date.now();
    const options = { scheduleToCloseTimeout: Math.max(leftMs, LAST_POLL_MS), summary: `wait for ${job.jobId}` };
    return pollAgentJob.executeWithOptions(options, [job]);
  };
  return await retryUntil(state, poll, isOver);
}

/** What the agent printed last: one that changes nothing usually says why. Null, with a note, if it isn't known. */
export async function lastWordsOf(run: ChangeRun): Promise<string | null> {
  const { state } = run;
  const job = jobOf(state);
  try {
    const summary = `what did the agent of ${job.jobId} say last`.slice(0, 200);
    return await inProgress(run, () => readLastWords.executeWithOptions({ summary }, [job]));
  } catch (error) {
    if (isCancellation(error)) throw error;
    addNote(state, `what the agent said last isn't known: ${readFailure(error).message}`);
    return null;
  }
}

/** The job as activities name it. */
export function jobOf({ job }: State): { projectId: string; jobId: string } {
  if (job === null) throw new Error('a change without a job has no pull request and waits for none');
  return { projectId: job.projectId, jobId: job.jobId };
}

/** Cancels the job at the service. A failure becomes a note. */
export async function cancelChangeJob({ state }: ChangeRun, reason: string): Promise<void> {
  if (state.job === null) return;
  const { projectId, jobId } = state.job;
  try {
    const summary = `cancel ${jobId}: ${reason}`.slice(0, 200);
    const outcome = await cancelAgentJob.executeWithOptions({ summary }, [{ projectId, jobId }]);
    if (outcome === 'finished') addNote(state, `${jobId} had ended already when it was to be canceled`);
    if (outcome === 'unsupported') addNote(state, `the Admin API can't cancel ${jobId}: it may go on`);
  } catch (error) {
    if (isCancellation(error)) throw error;
    addNote(state, `${jobId} couldn't be canceled: ${readFailure(error).message}`);
  }
}

/** Whether the service may have created the job: no response says that it didn't. */
function isUnanswered(error: unknown): boolean {
  return isCancellation(error) || ['Unavailable', 'TimedOut', 'Other'].includes(readFailure(error).type);
}

function resultOf({ status, prLink, error }: FinishedAgentJob): 'pull-request' | 'failed' | 'unchanged' {
  if (prLink !== null && status !== 'failed') return 'pull-request';
  return status === 'failed' || (status === 'archived' && error !== null) ? 'failed' : 'unchanged';
}

function applyResult(run: ChangeRun, job: FinishedAgentJob): void {
  const { state } = run;
  switch (resultOf(job)) {
    case 'pull-request':
      pullRequestOpened(state, job.prLink, Date.now());
      notifyPullRequest(run, 'opened');
      break;
    case 'failed':
      failChange(state, job.error ?? 'the service gave no reason');
      break;
    case 'unchanged':
      end(state, 'unchanged');
  }
}
