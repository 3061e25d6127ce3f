import {
  ActivityCancellationType,
  condition,
  isCancellation,
  patched,
  proxyActivities,
  workflowInfo,
} from '@temporalio/workflow';
import type { Activities } from '../../activities/create-activities.ts';
import { type Failure, readFailure } from '../failures/read-failure.ts';
import { adminApiCall, forgeCalls } from '../retry/activity-timeouts.ts';
import { retryUntil } from '../retry/retry-until.ts';
import { applyReading } from './events.ts';
import { cancelChangeJob, jobOf, lastWordsOf, NEVER_ENDED, pollUntilEnd } from './job.ts';
import { mailOperators, mailReviewers, reachable } from './mails.ts';
import { isRequestedReviewer, isWithdrawn } from './schedule.ts';
import { type ChangeRun, inProgress, isOver } from './state.ts';
import {
  addNote,
  beginFollowUp,
  endFollowUp,
  followUpRendered,
  followUpSent,
  personNeeded,
  reviewsRead,
} from './transitions.ts';

/** A forge that is down for longer is read again by the slow polling. */
const { readPullRequest, renderFollowUp } = proxyActivities<Activities>({
  ...forgeCalls,
  scheduleToCloseTimeout: '1h',
});

/** A canceled request is awaited, to know whether the service has accepted the message. */
const { messageAgentJob } = proxyActivities<Activities>({
  ...adminApiCall,
  scheduleToCloseTimeout: '1d',
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
});

type Mail = (mails: Promise<void>) => void;

/**
 * Passes each review in which a requested reviewer requests changes to the agent, one after another, and mails what
 * came of it.
 */
export async function followReviews(run: ChangeRun): Promise<void> {
  const mails: Promise<void>[] = [];
  try {
    for (;;) {
      await condition(() => isDue(run));
      if (!patched('follow-ups-2026-11')) return;
      const { state } = run;
      if (state.followUps.current === null && state.followUps.unread) await readReviews(run);
      // A slow mail server must not delay the next review.
      else await followUp(run, (sending) => void mails.push(sending));
    }
  } finally {
    await Promise.allSettled(mails);
  }
}

function isDue({ state: { phase, followUps }, settings }: ChangeRun): boolean {
  if (phase !== 'in-review') return false;
  // What was begun is ended, also if the rule has no `followUps` any more.
  if (followUps.current !== null) return true;
  return settings.followUps !== undefined && settings.forge && (followUps.unread || followUps.pending.length > 0);
}

/** A webhook may lack the id of its review, so the forge is read. */
async function readReviews(run: ChangeRun): Promise<void> {
  const { state } = run;
  reviewsRead(state);
  const prLink = state.prLink ?? '';
  try {
    const summary = `read the reviews of ${prLink}`.slice(0, 200);
    const read = () => readPullRequest.executeWithOptions({ summary }, [{ prLink }]);
    applyReading(state, await inProgress(run, read));
  } catch (error) {
    if (isCancellation(error)) throw error;
    addNote(state, `the review can't be read from the forge: ${readFailure(error).message}`);
  }
}

async function followUp(run: ChangeRun, mail: Mail): Promise<void> {
  const { state, settings } = run;
  const { current } = state.followUps;
  const review = current?.review ?? state.followUps.pending[0];
  const max = settings.followUps?.max ?? 0;
  if (review === undefined) return;
  if (current === null) {
    if (!isRequestedReviewer(state, review)) {
      addNote(state, `a review isn't passed to the agent: ${review.reviewer} wasn't asked by name to review`);
      return endFollowUp(state, review);
    }
    if (isWithdrawn(state, review)) return endFollowUp(state, review);
    beginFollowUp(state, review);
    if (state.followUps.sent >= max) {
      return needPerson(run, mail, `the agent has worked on ${max} review(s), as many as followUps.max allows`);
    }
  }
  if (state.followUps.current?.sentAtMs === null && !(await send(run, mail))) return;
  await awaitAnswer(run, mail);
}

/** Returns false if the agent doesn't get the review. */
async function send(run: ChangeRun, mail: Mail): Promise<boolean> {
  const { state } = run;
  const refused = (what: string, { message }: Failure): false => {
    needPerson(run, mail, `${what}: ${message}`);
    return false;
  };
  const { review } = currentOf(run);
  if (currentOf(run).prompt === null) {
    const summary = `what the review ${review.id} by ${review.reviewer} says`.slice(0, 200);
    const input = { prLink: state.prLink ?? '', review: { id: review.id, reviewer: review.reviewer } };
    try {
      const { prompt } = await inProgress(run, () => renderFollowUp.executeWithOptions({ summary }, [input]));
      if (prompt === null) {
        needPerson(run, mail, `the review by ${review.reviewer} has no text that an agent could work on`);
        return false;
      }
      followUpRendered(state, prompt);
    } catch (error) {
      if (isCancellation(error)) throw error;
      return refused("the review can't be read from the forge", readFailure(error));
    }
  }
  const summary = `follow-up for the review ${review.id} by ${review.reviewer}`.slice(0, 200);
  const message = {
    ...jobOf(state),
    prompt: currentOf(run).prompt ?? '',
    // One key per review, so that retries send nothing twice.
    idempotencyKey: `${workflowInfo().firstExecutionRunId}:review:${review.id}`,
  };
  const call = () =>
    inProgress(run, async () => {
      const outcome = await messageAgentJob.executeWithOptions({ summary }, [message]);
      if (outcome === 'accepted') followUpSent(state, Date.now());
      return outcome;
    });
  const outcome = await retryUntil(state, call, () => isOver(state.phase));
  if (outcome === undefined) return false;
  if ('failure' in outcome) return refused('the Admin API takes no follow-up', outcome.failure);
  if (outcome.value === 'accepted') return true;
  needPerson(run, mail, 'the Admin API takes no follow-ups: it has no message endpoint, or no longer the job');
  return false;
}

/** Waits until the agent has worked on the review, and mails what it says in the thread of the pull request. */
async function awaitAnswer(run: ChangeRun, mail: Mail): Promise<void> {
  const { state } = run;
  const { review, sentAtMs } = currentOf(run);
  const outcome = await pollUntilEnd(run, sentAtMs ?? 0, () => isOver(state.phase));
  if (outcome === undefined) return;
  const reason = failureOf(outcome, jobOf(state).jobId);
  if (reason?.includes(NEVER_ENDED)) await cancelChangeJob(run, 'it took too long');
  const said = await lastWordsOf(run);
  const { sent } = state.followUps;
  endFollowUp(state, review);
  if (reason !== null) personNeeded(state, reason);
  const about = { reviewer: review.reviewer, reason, said };
  if (run.settings.mail) mail(mailReviewers(run, `follow-up-${sent}`, reachable(run), about));
}

function failureOf(outcome: Awaited<ReturnType<typeof pollUntilEnd>> & object, jobId: string): string | null {
  if ('value' in outcome) {
    const { status, error } = outcome.value;
    return status === 'failed' ? `the agent failed: ${error ?? 'the service gave no reason'}` : null;
  }
  const { type, message } = outcome.failure;
  return type === 'TimedOut' ? `${jobId} ${NEVER_ENDED}` : `the follow-up's end isn't known: ${message}`;
}

/** Ends the current follow-up and asks the reviewers, or the operators if no reviewer has mail, to take over. */
function needPerson(run: ChangeRun, mail: Mail, reason: string): void {
  const { state, settings } = run;
  const { review } = currentOf(run);
  const isKnown = state.followUps.person === reason;
  endFollowUp(state, review);
  personNeeded(state, reason);
  if (isKnown || !settings.mail) return;
  const event = `person-needed-${state.followUps.asked}` as const;
  const reviewers = reachable(run);
  const about = { reviewer: review.reviewer, reason, said: null };
  if (reviewers.length > 0) mail(mailReviewers(run, event, reviewers, about));
  else mail(mailOperators(run, event, reason));
}

function currentOf({ state }: ChangeRun) {
  const { current } = state.followUps;
  if (current === null) throw new Error('there is no follow-up');
  return current;
}

/** The pull request has ended or the change is canceled: the agent needn't go on. */
export async function stopFollowUp(run: ChangeRun): Promise<void> {
  const { current } = run.state.followUps;
  if (current === null) return;
  if (current.sentAtMs !== null) await inProgress(run, () => cancelChangeJob(run, 'the pull request has ended'));
  endFollowUp(run.state, current.review);
}
