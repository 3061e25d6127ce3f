import type { MailResult } from '../../activities/mails/mail-input.ts';
import type { ReviewRequestReport } from '../../contract/agent-state.ts';
import { cutText } from '../../contract/cut-text.ts';
import type { ChangeRequest } from '../../contract/pull-request-event.ts';
import { toMailRecord } from '../mails/mail-record.ts';
import { skipBackOff } from '../retry/retry-until.ts';
import { applyEarlyEvents } from './events.ts';
import type { MutableState, ReviewPlan } from './state.ts';

/** The named changes of a change's state. Those by events of the pull request are in events.ts. */

const MAX_ERROR = 2_000;
const MAX_LAST_WORDS = 1_000;
const MAX_NOTE = 500;
const MAX_NOTES = 20;

export function reportUnconfigured(state: MutableState, message: string): void {
  state.unconfigured = message;
}

/** The configuration changed, which may have fixed the cause of the failure. */
export function endBackOff(state: MutableState): void {
  state.backOff = skipBackOff(state.backOff);
}

/** Adds a message for people, unless it is there already. */
export function addNote(state: MutableState, text: string): void {
  const note = cutText(text, MAX_NOTE);
  if (!state.notes.includes(note)) state.notes = [...state.notes, note].slice(-MAX_NOTES);
}

export function promptRendered(state: MutableState, prompt: { projectId: string; prompt: string }): void {
  state.prompt = prompt;
  state.events = state.events.slice(-1);
}

/** The response to the request that creates the job is missing. */
export function responseLost(state: MutableState): void {
  state.mayHaveJob = true;
}

export function jobCreated(state: MutableState, job: { projectId: string; jobId: string }, nowMs: number): void {
  state.job = { ...job, createdAtMs: nowMs };
}

export function beginWork(state: MutableState): void {
  state.phase = 'working';
  state.prompt = null;
  state.events = state.events.slice(-1);
}

/**
 * The service may run a job whose id was lost. Asking again with the same key would create one if there is none, so a
 * person has to check.
 */
export function reportLostJob(state: MutableState): void {
  if (state.job !== null || !state.mayHaveJob) return;
  addNote(state, 'the Admin API may have made a job, but its answer was lost: should there be one, cancel it there');
}

export function setLastWords(state: MutableState, words: string | null): void {
  state.lastWords = words === null ? null : cutText(words, MAX_LAST_WORDS);
}

export function pullRequestOpened(state: MutableState, prLink: string | null, nowMs: number): void {
  state.prLink = prLink;
  state.reviewSinceMs = nowMs;
  state.phase = 'notifying';
  applyEarlyEvents(state);
}

export function setPlan(state: MutableState, plan: ReviewPlan): void {
  state.plan = plan;
}

export function reviewsRequested(state: MutableState, report: ReviewRequestReport): void {
  state.reviewRequests = report;
  state.requested = true;
}

/** Unless the pull request was merged or closed meanwhile. */
export function beginReview(state: MutableState): void {
  if (state.phase === 'notifying') state.phase = 'in-review';
}

/** Someone reopened the pull request: reminders and the expiry count from now. */
export function reviewReopened(state: MutableState, nowMs: number): void {
  state.reviewSinceMs = nowMs;
  state.reminders = { ...state.reminders, doneUpToMs: 0 };
}

export function reminderSent(state: MutableState, sent: number, doneUpToMs: number): void {
  state.reminders = { sent, doneUpToMs };
}

/** Ids of reviews that are done with. Older ones are no longer listed among the last reviews. */
const MAX_HANDLED = 200;

/** The forge is read now. */
export function reviewsRead(state: MutableState): void {
  state.followUps = { ...state.followUps, unread: false };
}

export function beginFollowUp(state: MutableState, review: ChangeRequest): void {
  const pending = state.followUps.pending.filter(({ id }) => id !== review.id);
  const current = { review, prompt: null, sentAtMs: null };
  state.followUps = { ...state.followUps, pending, current, last: review };
}

export function followUpRendered(state: MutableState, prompt: string): void {
  const { current } = state.followUps;
  state.followUps = { ...state.followUps, current: current && { ...current, prompt } };
}

/** The service has accepted the message. */
export function followUpSent(state: MutableState, nowMs: number): void {
  const { current, sent } = state.followUps;
  const begun = current && { ...current, prompt: null, sentAtMs: nowMs };
  state.followUps = { ...state.followUps, current: begun, sent: sent + 1, person: null };
}

/** The review is done with, whether the agent got it or not. */
export function endFollowUp(state: MutableState, { id }: ChangeRequest): void {
  const pending = state.followUps.pending.filter((review) => review.id !== id);
  const handled = [...state.followUps.handled, id].slice(-MAX_HANDLED);
  state.followUps = { ...state.followUps, pending, handled, current: null };
  // In review, only the calls for a follow-up set it.
  state.error = null;
}

/** A person has to take over. */
export function personNeeded(state: MutableState, reason: string): void {
  const person = cutText(reason, MAX_NOTE);
  const asked = state.followUps.asked + (person === state.followUps.person ? 0 : 1);
  state.followUps = { ...state.followUps, person, asked };
}

export function mailSent(state: MutableState, event: string, to: string, result: MailResult): void {
  state.mails = [...state.mails, toMailRecord(event, to, result)];
}

export function failChange(state: MutableState, message: string): void {
  state.error = cutText(message, MAX_ERROR);
  state.phase = 'failed';
}

export function end(state: MutableState, phase: 'cancelled' | 'expired' | 'unchanged'): void {
  state.phase = phase;
}
