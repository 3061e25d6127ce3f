import { condition, isCancellation, proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../../activities/create-activities.ts';
import { cutText } from '../../contract/cut-text.ts';
import { reviewKey } from '../../contract/pull-request-event.ts';
import { runUntil, waitAtMost } from '../entity/coroutines.ts';
import { readFailure } from '../failures/read-failure.ts';
import { forgeCalls } from '../retry/activity-timeouts.ts';
import { applyReading, setTitle } from './events.ts';
import { followReviews } from './follow-ups.ts';
import { mailReviewers, reachable } from './mails.ts';
import { expiresAtMs, reminderOf } from './schedule.ts';
import { type ChangeRun, inProgress, isOver, type ReviewPlan } from './state.ts';
import { addNote, beginReview, end, reminderSent, reviewReopened, reviewsRequested, setPlan } from './transitions.ts';

/**
 * The activity itself decides how long it waits for a forge that is down. This limit is for attempts that time out, for
 * example with hundreds of owners to look up; then only the rule's own reviewers are notified.
 */
const { planReview } = proxyActivities<Activities>({ ...forgeCalls, scheduleToCloseTimeout: '1h' });

/** Reviewers also get a mail, so this is optional. */
const { requestReview } = proxyActivities<Activities>({ ...forgeCalls, scheduleToCloseTimeout: '1h' });

/** A reminder and the end of a change read it first. Neither waits long for a forge that is down. */
export const { readPullRequest } = proxyActivities<Activities>({ ...forgeCalls, scheduleToCloseTimeout: '1m' });

/** Polls by its retry policy for as long as the pull request is open. */
const { followPullRequest } = proxyActivities<Activities>({
  ...forgeCalls,
  retry: { initialInterval: '1m', backoffCoefficient: 2, maximumInterval: '1h' },
});

const MAX_PEOPLE = 100;

/** A mail server that defers a mail does so for minutes at least, and for a day and a half at most. */
const SLOW_MAIL_MS = 10 * 60_000;

/** The delay after the forge refused to return the pull request, for example because of a token without permission. */
const REFUSED_WAIT_MS = 3_600_000;

/** Requests the review and waits until the pull request is merged or closed, or the review expires. */
export async function awaitReview(run: ChangeRun): Promise<void> {
  await runUntil(
    [
      () => requestReviews(run),
      () => beginReviewAnyway(run),
      () => remind(run),
      () => followOnForge(run),
      () => expire(run),
      () => followReviews(run),
    ],
    () => isOver(run.state.phase),
  );
}

/** Follows a closed pull request until it is reopened or merged. Returns false if the review expires before. */
export async function awaitReopening(run: ChangeRun): Promise<boolean> {
  const { state } = run;
  let expired = false;
  const expiry = async (): Promise<void> => {
    await untilExpired(run);
    expired = true;
  };
  await runUntil([() => followOnForge(run), expiry], () => expired || state.phase !== 'closed');
  if (state.phase === 'in-review') reviewReopened(state, Date.now());
  return state.phase !== 'closed';
}

/** Requests reviews on the forge and by mail, unless an earlier run has done so. */
async function requestReviews(run: ChangeRun): Promise<void> {
  const { state, settings } = run;
  if (state.phase !== 'notifying') return;
  if (!settings.mail) addNote(state, 'no mail server is configured: reviewers get no mail');
  if (!settings.forge) addNote(state, 'no forge is configured: no review is requested there');
  const plan = state.plan ?? (await planReviewers(run));
  setPlan(state, plan);
  setTitle(state, plan.title);
  await Promise.all([
    requestOnForge(run, plan),
    // Planning takes time, so the settings may have changed.
    run.settings.mail ? mailReviewers(run, 'review-requested', plan.mails) : Promise.resolve(),
  ]);
  beginReview(state);
}

/** Begins the review although a mail server or the forge is slow, so that reminders don't wait for it. */
async function beginReviewAnyway({ state }: ChangeRun): Promise<void> {
  if (state.phase !== 'notifying') return;
  await condition(() => state.plan !== null);
  await condition(() => state.phase !== 'notifying', SLOW_MAIL_MS, { summary: 'the first mails' });
  beginReview(state);
}

async function planReviewers(run: ChangeRun): Promise<ReviewPlan> {
  const { site, rule, state, settings } = run;
  const { reviewers } = settings;
  const prLink = state.prLink ?? '';
  try {
    const summary = `who reviews ${prLink}`.slice(0, 200);
    const plan = await inProgress(run, () =>
      planReview.executeWithOptions({ summary }, [{ site, rule, prLink, reviewers }]),
    );
    if (plan.note !== null) addNote(state, plan.note);
    const { title, mails, logins, teams, unknownLogins } = plan;
    return {
      title: cutText(title, 500),
      mails: bounded(mails),
      logins: bounded(logins),
      teams: bounded(teams),
      unknownLogins,
    };
  } catch (error) {
    if (isCancellation(error)) throw error;
    addNote(state, `who owns the changed files isn't known: ${readFailure(error).message}`);
    return { title: `Pull request by ${rule}`, mails: bounded(reviewers), logins: [], teams: [], unknownLogins: false };
  }
}

async function requestOnForge(run: ChangeRun, { logins, teams }: ReviewPlan): Promise<void> {
  const { state, settings } = run;
  if (!settings.forge || state.requested || state.prLink === null || logins.length + teams.length === 0) return;
  const { prLink } = state;
  try {
    const summary = `ask ${[...logins, ...teams].join(', ')} for review`.slice(0, 200);
    const report = await inProgress(run, () =>
      requestReview.executeWithOptions({ summary }, [{ prLink, logins, teams }]),
    );
    reviewsRequested(state, {
      requested: bounded(report.requested),
      refused: report.refused.slice(0, MAX_PEOPLE).map(({ name, reason }) => ({ name, reason: reason.slice(0, 200) })),
    });
  } catch (error) {
    if (isCancellation(error)) throw error;
    const reason = readFailure(error).message.slice(0, 200);
    reviewsRequested(state, { requested: [], refused: [...logins, ...teams].map((name) => ({ name, reason })) });
  }
}

/** Sends a reminder at each of the configured times, until a person who was asked gives a verdict. */
async function remind(run: ChangeRun): Promise<void> {
  const reminders: Promise<void>[] = [];
  try {
    await remindInTime(run, (mails) => void reminders.push(mails));
  } finally {
    await Promise.allSettled(reminders);
  }
}

/** @param inBackground gets the mails of a reminder: a slow one must not delay the next reminder of the others. */
async function remindInTime(run: ChangeRun, inBackground: (mails: Promise<void>) => void): Promise<never> {
  const { state } = run;
  for (;;) {
    await condition(() => reminderOf(run) !== null);
    const reminder = reminderOf(run);
    if (reminder === null) continue;
    const waitMs = reminder.atMs - Date.now();
    if (waitMs > 0) {
      // After a review or new settings, another reminder or none is due.
      const hasChanged = (): boolean => reminderOf(run)?.atMs !== reminder.atMs;
      await waitAtMost(hasChanged, waitMs, 'next reminder of the review');
      continue;
    }
    await readAgain(run);
    if (reminderOf(run)?.atMs !== reminder.atMs) continue;
    const number = state.reminders.sent + 1;
    inBackground(mailReviewers(run, `reminder-${number}`, reachable(run)));
    reminderSent(state, number, reminder.afterMs);
  }
}

/** The webhook of a review may be lost, and the slow polling may not have noticed it yet. */
async function readAgain({ state, settings }: ChangeRun): Promise<void> {
  if (!settings.forge || state.prLink === null) return;
  const { prLink } = state;
  try {
    const summary = 'look for a verdict before the reminder';
    applyReading(state, await readPullRequest.executeWithOptions({ summary }, [{ prLink }]));
  } catch (error) {
    if (isCancellation(error)) throw error;
    // An unnecessary reminder is better than a missing one.
  }
}

/** Polls the forge slowly, for lost webhooks and those that arrived before the change knew its pull request. */
async function followOnForge(run: ChangeRun): Promise<void> {
  const { state } = run;
  let known: Parameters<typeof followPullRequest>[0]['known'] = null;
  for (;;) {
    await condition(() => run.settings.forge && state.prLink !== null);
    const prLink = state.prLink ?? '';
    try {
      const summary = `follow ${prLink}`.slice(0, 200);
      const reading = await followPullRequest.executeWithOptions({ summary }, [{ prLink, known }]);
      applyReading(state, reading);
      const { title, reviews, changeRequests = [] } = reading;
      known = {
        state: reading.state,
        title,
        reviews: [...new Set(reviews.map(reviewKey))],
        changeRequests: changeRequests.map(({ id }) => id),
      };
    } catch (error) {
      if (isCancellation(error)) throw error;
      addNote(state, `the forge doesn't return the state of the pull request: ${readFailure(error).message}`);
      const { settings } = run;
      await condition(() => run.settings !== settings, REFUSED_WAIT_MS, { summary: 'the forge rejected the request' });
    }
  }
}

async function expire(run: ChangeRun): Promise<void> {
  await untilExpired(run);
  if (!isOver(run.state.phase)) end(run.state, 'expired');
}

async function untilExpired(run: ChangeRun): Promise<void> {
  for (;;) {
    const atMs = expiresAtMs(run) ?? 0;
    const waitMs = atMs - Date.now();
    if (waitMs <= 0) return;
    await waitAtMost(() => expiresAtMs(run) !== atMs, waitMs, 'the review expires');
  }
}

function bounded(names: readonly string[]): string[] {
  return names.slice(0, MAX_PEOPLE).map((name) => name.slice(0, 254));
}
