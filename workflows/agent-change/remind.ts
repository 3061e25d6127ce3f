import { condition, isCancellation, patched } from '@temporalio/workflow';
import { waitAtMost } from '../coroutines/wait-at-most.ts';
import { readPullRequest } from './activity-proxies.ts';
import type { ChangeRun } from './change-run.ts';
import { mailOf, mailReviewers } from './mails.ts';
import { takeReading } from './news.ts';
import { nextReminder, type Reminder } from './reminders.ts';
import { hasVerdict } from './verdict.ts';

/** Reminds the reviewers at each of the configured times, until one of those who were asked gives a verdict. */
export async function remind(run: ChangeRun): Promise<void> {
  const { memory } = run;
  // In runs recorded by releases before 0.2 anybody's review ended the reminders, also a bot's remark.
  run.remindsUntilVerdict = patched('reminders-until-verdict-2026-11');
  for (;;) {
    await condition(() => reminderOf(run) !== null);
    const reminder = reminderOf(run);
    if (reminder === null) continue;
    const waitMs = reminder.atMs - Date.now();
    if (waitMs > 0) {
      // A review, or another configuration, makes it another one or none.
      const changed = (): boolean => reminderOf(run)?.atMs !== reminder.atMs;
      await waitAtMost(changed, waitMs, 'next reminder of the review');
      continue;
    }
    await lookAgain(run);
    if (reminderOf(run)?.atMs !== reminder.atMs) continue;
    const number = memory.reminders.sent + 1;
    await mailReviewers(run, `reminder-${number}`, remindable(run));
    memory.reminders = { sent: number, doneUpToMs: reminder.afterMs };
  }
}

/** The webhook of a review may have been lost, and the slow questions may not have found it yet. */
async function lookAgain({ memory, settings }: ChangeRun): Promise<void> {
  if (!settings.forge || memory.prLink === null) return;
  const { prLink } = memory;
  try {
    const summary = 'has nobody given a verdict yet';
    takeReading(memory, await readPullRequest.executeWithOptions({ summary }, [{ prLink }]));
  } catch (error) {
    if (isCancellation(error)) throw error;
    // A reminder too many does less harm than one too few.
  }
}

/** The next reminder; null where none will be sent. */
export function reminderOf({ memory, settings, remindsUntilVerdict }: ChangeRun): Reminder | null {
  const { phase, reviewSinceMs, reminders, reviews } = memory;
  if (phase !== 'in-review' || reviewSinceMs === null || !settings.mail) return null;
  if (remindsUntilVerdict ? hasVerdict(memory) : reviews.length > 0) return null;
  const { remindAfterMs } = settings;
  return nextReminder({ sinceMs: reviewSinceMs, remindAfterMs, doneUpToMs: reminders.doneUpToMs }, Date.now());
}

/** An address whose server will never take a mail is left alone, and one that the first mail is still on its way to. */
function remindable({ memory, beingAsked }: ChangeRun): string[] {
  return (memory.plan?.mails ?? []).filter((to) => {
    if (beingAsked.has(to.toLowerCase())) return false;
    const outcome = mailOf(memory, 'review-requested', to)?.outcome;
    return outcome !== 'refused' && outcome !== 'unsubscribed';
  });
}
