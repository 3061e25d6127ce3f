import { isCancellation, patched, workflowInfo } from '@temporalio/workflow';
import type { FinishedAgentJob } from '../../activities/agents/agent-job.ts';
import { cutText } from '../../contract/cut-text.ts';
import { formatDurationMs } from '../../contract/duration.ts';
import { readFailure } from '../trouble/failures.ts';
import { cancelAgentJob, createAgentJob, pollAgentJob, readLastWords, renderAgentPrompt } from './activity-proxies.ts';
import { addNote, type ChangeMemory } from './change-memory.ts';
import { type ChangeRun, underWay } from './change-run.ts';
import { takeEarlyNews } from './news.ts';
import { askPatiently } from './patience.ts';

/** No agent works for longer: a job that hasn't ended by then never will. */
const JOB_TIMEOUT_MS = 24 * 3_600_000;

/** One question at least is asked about a job, however long ago it was made: it may have ended meanwhile. */
const LAST_QUESTION_MS = 5_000;

const MAX_ERROR = 2_000;

/** Of what an agent said last. */
const MAX_WORDS = 1_000;

/**
 * Hands the prompt to the Admin API. A service that doesn't take it until the change would expire is given up. A rule that is
 * taken out meanwhile ends the change, unless the job is there already.
 */
export async function submit(run: ChangeRun): Promise<void> {
  const { site, rule, memory } = run;
  const over = (): boolean => memory.phase !== 'prompting' || run.removed || isTooLate(run);
  // Runs recorded by releases before 0.2 have no such activity: each attempt of createAgentJob rendered the prompt.
  if (patched('rendered-prompt-2026-11')) await renderOnce(run, over);
  if (memory.phase !== 'prompting') return;
  const { events, eventCount, prompt } = memory;
  // One key for the whole change: whatever is repeated, there is one job.
  const idempotencyKey = `${workflowInfo().firstExecutionRunId}:1`;
  const summary = `prompt by the rule ${rule} for ${eventCount} event(s)`.slice(0, 200);
  const answer = await askPatiently(
    run,
    () =>
      underWay(run, async () => {
        const input = { site, rule, ...(prompt ?? { events, eventCount }), idempotencyKey };
        const created = await createAgentJob.executeWithOptions({ summary }, [input]).catch((error: unknown) => {
          if (isUnanswered(run, error)) memory.mayHaveJob = true;
          throw error;
        });
        // Noted before anything else can happen: who cancels now has to know the job.
        memory.job = { ...created, createdAtMs: Date.now() };
        return created;
      }),
    over,
  );
  if (memory.job !== null) {
    memory.phase = 'working';
    memory.prompt = null;
    memory.events = events.slice(-1);
  } else if (run.removed) memory.phase = 'cancelled';
  else if (answer !== undefined && 'failure' in answer) fail(run, answer.failure.message);
  else if (memory.phase === 'prompting') memory.phase = 'expired';
}

/**
 * Renders the prompt before the first request, and keeps it: an edited rule must not send another text under the same
 * key, because the service would refuse it although the first text's job is at work.
 */
async function renderOnce(run: ChangeRun, over: () => boolean): Promise<void> {
  const { site, rule, memory } = run;
  if (memory.prompt) return;
  const { events, eventCount } = memory;
  const summary = `prompt of the rule ${rule}`;
  const render = () => renderAgentPrompt.executeWithOptions({ summary }, [{ site, rule, events, eventCount }]);
  const answer = await askPatiently(run, render, over);
  if (memory.phase !== 'prompting') return;
  if (answer !== undefined && 'value' in answer) {
    memory.prompt = answer.value;
    memory.events = events.slice(-1);
  } else if (run.removed) memory.phase = 'cancelled';
  else if (answer !== undefined) fail(run, answer.failure.message);
}

/**
 * Notes that a job may be at work of which only the service knows. It is left alone: asking once more under the same key
 * would make a job where there is none.
 */
export function noteLostJob(memory: ChangeMemory): void {
  if (memory.job !== null || memory.mayHaveJob !== true) return;
  addNote(memory, 'the Admin API may have made a job, but its answer was lost: should there be one, cancel it there');
}

/** Waits for the job's end, however often the service goes away meanwhile. */
export async function waitForJob(run: ChangeRun): Promise<void> {
  const { memory } = run;
  const { job } = memory;
  if (job === null) throw new Error('a change without a job waits for it');
  const { projectId, jobId } = job;
  const poll = (): Promise<FinishedAgentJob> => {
    const leftMs = job.createdAtMs + JOB_TIMEOUT_MS - Date.now();
    const options = { scheduleToCloseTimeout: Math.max(leftMs, LAST_QUESTION_MS), summary: `wait for ${jobId}` };
    return pollAgentJob.executeWithOptions(options, [{ projectId, jobId }]);
  };
  const answer = await askPatiently(run, poll, () => memory.phase !== 'working' || isTooLate(run));
  if (answer === undefined) {
    if (memory.phase === 'working') memory.phase = 'expired';
  } else if ('value' in answer) {
    // Runs recorded by releases before 0.2 didn't ask what the agent said.
    if (endOf(answer.value) === 'unchanged' && patched('last-words-2026-11')) {
      await noteLastWords(run, { projectId, jobId });
    }
    noteEnd(run, answer.value);
  } else if (answer.failure.type === 'TimedOut') {
    await cancelJob(run, 'it took too long');
    fail(run, `${jobId} didn't end within ${formatDurationMs(JOB_TIMEOUT_MS)} and was given up`);
  } else fail(run, answer.failure.message);
}

/** An agent that changes nothing mostly says why. */
async function noteLastWords(run: ChangeRun, job: { projectId: string; jobId: string }): Promise<void> {
  const { memory } = run;
  try {
    const summary = `what did the agent of ${job.jobId} say last`.slice(0, 200);
    const words = await underWay(run, () => readLastWords.executeWithOptions({ summary }, [job]));
    memory.lastWords = words === null ? null : cutText(words, MAX_WORDS);
  } catch (error) {
    if (isCancellation(error)) throw error;
    addNote(memory, `what the agent said last isn't known: ${readFailure(error).message}`);
  }
}

/** Asks the service to cancel the job. Whatever goes wrong with that, the change goes on without. */
export async function cancelJob({ memory }: ChangeRun, reason: string): Promise<void> {
  if (memory.job === null) return;
  const { projectId, jobId } = memory.job;
  try {
    const summary = `cancel ${jobId}: ${reason}`.slice(0, 200);
    const outcome = await cancelAgentJob.executeWithOptions({ summary }, [{ projectId, jobId }]);
    if (outcome === 'finished') addNote(memory, `${jobId} had ended already when it was to be cancelled`);
    if (outcome === 'unsupported') addNote(memory, `the Admin API can't cancel ${jobId}: it may go on`);
  } catch (error) {
    if (isCancellation(error)) throw error;
    addNote(memory, `${jobId} couldn't be cancelled: ${readFailure(error).message}`);
  }
}

/** Interrupted, or given up without an answer that says no, as where the rule was taken out between two attempts. */
function isUnanswered({ removed }: ChangeRun, error: unknown): boolean {
  if (isCancellation(error)) return true;
  const { type, status } = readFailure(error);
  return type === 'Rejected' ? removed && status === null : ['Unavailable', 'TimedOut', 'Other'].includes(type);
}

/** What nobody has made a pull request of by then, nobody waits for any more. */
function isTooLate({ memory, settings }: ChangeRun): boolean {
  return Date.now() >= memory.startedAtMs + settings.expireAfterMs;
}

function endOf({ status, prLink, error }: FinishedAgentJob): 'pull-request' | 'failed' | 'unchanged' {
  if (prLink !== null && status !== 'failed') return 'pull-request';
  return status === 'failed' || (status === 'archived' && error !== null) ? 'failed' : 'unchanged';
}

function noteEnd(run: ChangeRun, job: FinishedAgentJob): void {
  const { memory } = run;
  switch (endOf(job)) {
    case 'pull-request':
      memory.prLink = job.prLink;
      memory.reviewSinceMs = Date.now();
      memory.phase = 'notifying';
      takeEarlyNews(memory);
      break;
    case 'failed':
      fail(run, job.error ?? 'the service gave no reason');
      break;
    case 'unchanged':
      memory.phase = 'unchanged';
  }
}

function fail({ memory }: ChangeRun, message: string): void {
  memory.error = cutText(message, MAX_ERROR);
  memory.phase = 'failed';
}
