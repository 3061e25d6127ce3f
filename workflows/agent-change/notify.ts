import { condition, isCancellation, patched } from '@temporalio/workflow';
import { cutText } from '../../contract/cut-text.ts';
import { readFailure } from '../trouble/failures.ts';
import { planReview, requestReview } from './activity-proxies.ts';
import { addNote, type ReviewPlan } from './change-memory.ts';
import { type ChangeRun, underWay } from './change-run.ts';
import { mailReviewers } from './mails.ts';
import { notePullRequest } from './news.ts';

/** What is remembered of people has to stay small. */
const MAX_PEOPLE = 100;

/** A mail server that puts a mail off does so for minutes at least, and for a day and a half at most. */
const SLOW_MS = 10 * 60_000;

/** Asks for review, on the forge and by mail. What was done before a continue-as-new isn't done again. */
export async function notify(run: ChangeRun): Promise<void> {
  const { memory, settings } = run;
  if (memory.phase !== 'notifying') return;
  if (!settings.mail && !run.removed) addNote(memory, 'no mail server is configured: reviewers get no mail');
  if (!settings.forge) addNote(memory, 'no forge is configured: no review is requested there');
  memory.plan ??= await plan(run);
  notePullRequest(memory, memory.plan.title);
  const { plan: made } = memory;
  await Promise.all([
    request(run, made),
    // As it is by now: planning may have taken long, and the rule may have been taken out meanwhile.
    run.settings.mail ? mailReviewers(run, 'review-requested', made.mails) : Promise.resolve(),
  ]);
  if (memory.phase === 'notifying') memory.phase = 'in-review';
}

/**
 * Lets the review begin although somebody's mail server, or the forge, is slow to take what it is asked: the others'
 * reminders don't wait for it. What is under way goes on.
 */
export async function waitNoLonger({ memory }: ChangeRun): Promise<void> {
  if (memory.phase !== 'notifying' || !patched('slow-mails-2026-11')) return;
  await condition(() => memory.plan !== null);
  await condition(() => memory.phase !== 'notifying', SLOW_MS, { summary: 'the first mails' });
  if (memory.phase === 'notifying') memory.phase = 'in-review';
}

async function plan(run: ChangeRun): Promise<ReviewPlan> {
  const { site, rule, memory, settings } = run;
  const { reviewers } = settings;
  const prLink = memory.prLink ?? '';
  try {
    const summary = `who reviews ${prLink}`.slice(0, 200);
    const made = await underWay(run, () =>
      planReview.executeWithOptions({ summary }, [{ site, rule, prLink, reviewers }]),
    );
    if (made.note !== null) addNote(memory, made.note);
    const { title, mails, logins, teams, unknownLogins } = made;
    return {
      title: cutText(title, 500),
      mails: bounded(mails),
      logins: bounded(logins),
      teams: bounded(teams),
      unknownLogins,
    };
  } catch (error) {
    if (isCancellation(error)) throw error;
    addNote(memory, `who owns the changed files isn't known: ${readFailure(error).message}`);
    return { title: `Pull request by ${rule}`, mails: bounded(reviewers), logins: [], teams: [] };
  }
}

async function request(run: ChangeRun, { logins, teams }: ReviewPlan): Promise<void> {
  const { memory, settings } = run;
  if (!settings.forge || memory.requested || memory.prLink === null || logins.length + teams.length === 0) return;
  const { prLink } = memory;
  try {
    const summary = `ask ${[...logins, ...teams].join(', ')} for review`.slice(0, 200);
    const report = await underWay(run, () =>
      requestReview.executeWithOptions({ summary }, [{ prLink, logins, teams }]),
    );
    memory.reviewRequests = {
      requested: bounded(report.requested),
      refused: report.refused.slice(0, MAX_PEOPLE).map(({ name, reason }) => ({ name, reason: reason.slice(0, 200) })),
    };
  } catch (error) {
    if (isCancellation(error)) throw error;
    const reason = readFailure(error).message.slice(0, 200);
    memory.reviewRequests = { requested: [], refused: [...logins, ...teams].map((name) => ({ name, reason })) };
  }
  memory.requested = true;
}

function bounded(names: readonly string[]): string[] {
  return names.slice(0, MAX_PEOPLE).map((name) => name.slice(0, 254));
}
