import type { ChangeRequest, Review } from '../../contract/pull-request-event.ts';
import type { ChangeRun, State } from './state.ts';

/** When reminders are due, what ends them, and when the change expires: pure functions. */

type ReminderSettings = {
  /** When the review was requested. */
  sinceMs: number;
  /** The configured times after it, ascending. */
  remindAfterMs: readonly number[];
  /** The last of these times that earlier reminders cover. */
  doneUpToMs: number;
};

type Reminder = {
  atMs: number;
  /** The configured time that it means. */
  afterMs: number;
};

/** The next reminder; null if none will be sent. */
export function reminderOf({ state, settings }: ChangeRun): Reminder | null {
  const { phase, reviewSinceMs, reminders } = state;
  if (phase !== 'in-review' || reviewSinceMs === null || !settings.mail || hasVerdict(state)) return null;
  const { remindAfterMs } = settings;
  return nextReminder({ sinceMs: reviewSinceMs, remindAfterMs, doneUpToMs: reminders.doneUpToMs }, Date.now());
}

/** Reminders that became due while none could be sent are one. */
export function nextReminder({ sinceMs, remindAfterMs, doneUpToMs }: ReminderSettings, nowMs: number): Reminder | null {
  const left = remindAfterMs.filter((afterMs) => afterMs > doneUpToMs);
  const afterMs = left.findLast((candidate) => sinceMs + candidate <= nowMs) ?? left[0];
  return afterMs === undefined ? null : { atMs: sinceMs + afterMs, afterMs };
}

/** Says when the review expires; null without a pull request. */
export function expiresAtMs({ state, settings }: ChangeRun): number | null {
  return state.reviewSinceMs === null ? null : state.reviewSinceMs + settings.expireAfterMs;
}

/** The change has expired before there is a pull request. */
export function isTooLate({ state, settings }: ChangeRun): boolean {
  return Date.now() >= state.startedAtMs + settings.expireAfterMs;
}

type Requested = Pick<State, 'plan' | 'reviewRequests'>;

/** Whether a person who was asked for the review has approved, or requested changes. */
export function hasVerdict(state: Requested & { readonly reviews: readonly Review[] }): boolean {
  return state.reviews.some((review) => isPersonsVerdict(review) && mayBeAsked(state, review.reviewer));
}

/** GitHub marks bots, and its Apps have logins such as `galley[bot]`. */
function isPersonsVerdict({ verdict, reviewer, bot }: Review): boolean {
  return verdict !== 'commented' && bot !== true && !/\[bot\]$/i.test(reviewer);
}

/**
 * Any login may belong to a person who was asked if the forge was asked for no review or for a team's (its members are
 * unknown), or if someone with an unknown login got a mail.
 */
function mayBeAsked({ plan, reviewRequests }: Requested, reviewer: string): boolean {
  const isRequested = (name: string): boolean => reviewRequests.requested.some((other) => isSameName(name, other));
  if (plan === null || plan.unknownLogins || plan.teams.some(isRequested)) return true;
  return !plan.logins.some(isRequested) || plan.logins.some((login) => isSameName(login, reviewer));
}

/**
 * Whether the forge asked this person by name for the review, or the person reviews by an address that got the mail, as
 * at the embedded forge. Members of a team aren't known here.
 */
export function isRequestedReviewer({ plan, reviewRequests }: Requested, { reviewer, bot }: ChangeRequest): boolean {
  if (plan === null || bot) return false;
  const isReviewer = (name: string): boolean => isSameName(name, reviewer);
  return plan.mails.some(isReviewer) || (plan.logins.some(isReviewer) && reviewRequests.requested.some(isReviewer));
}

/** The reviewer has approved since. */
export function isWithdrawn({ reviews }: Pick<State, 'reviews'>, { reviewer, at }: ChangeRequest): boolean {
  return reviews.some((each) => each.verdict === 'approved' && isSameName(each.reviewer, reviewer) && each.at > at);
}

function isSameName(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase();
}
