import { isCancellation, proxyActivities, workflowInfo } from '@temporalio/workflow';
import type { Activities } from '../../activities/create-activities.ts';
import type { MailResult, OperatorMailInput, ReviewMailInput } from '../../activities/mails/mail-input.ts';
import type { MailRecord } from '../../contract/agent-state.ts';
import { resultOfFailedSend, uniqueAddresses } from '../mails/mail-record.ts';
import { inPool, mailTimeouts } from '../retry/activity-timeouts.ts';
import { type ChangeRun, inProgress, isOver, type State } from './state.ts';
import { addNote, mailSent } from './transitions.ts';

const { sendOperatorMail } = proxyActivities<Activities>(mailTimeouts);

const { sendReviewMail } = proxyActivities<Activities>({ ...mailTimeouts, ...inPool('review-mail') });

const MAX_RECIPIENTS = 50;

const INTERRUPTED: MailResult = { outcome: 'unknown', detail: 'the change ended while it was being sent' };

/**
 * Sends one mail of an event to each reviewer.
 * @param followUp what the mail says if it is about a follow-up
 */
export async function mailReviewers(
  run: ChangeRun,
  event: ReviewMailInput['event'],
  addresses: readonly string[],
  followUp?: ReviewMailInput['followUp'],
): Promise<void> {
  const { site, rule, state } = run;
  const { prLink, reviewSinceMs } = state;
  const publish = state.events.at(-1);
  if (prLink === null || publish === undefined) return;
  const mail = {
    site,
    rule,
    changeId: workflowInfo().workflowId,
    event,
    // The title at the first mail: with another subject, a reminder would start a new thread.
    pullRequest: { url: prLink, title: state.plan?.title ?? '' },
    publish,
    eventCount: state.eventCount,
    requestedAt: new Date(reviewSinceMs ?? Date.now()).toISOString(),
    ...(followUp && { followUp }),
  };
  await sendEach(run, event, addresses, async (to, summary) => {
    run.mailing.add(to.toLowerCase());
    try {
      return await sendReviewMail.executeWithOptions({ summary }, [{ ...mail, to }]);
    } finally {
      run.mailing.delete(to.toLowerCase());
    }
  });
}

/** The reviewers with mail, without those that reject it, have unsubscribed or are still to get the last mail. */
export function reachable({ state, mailing }: ChangeRun): string[] {
  return (state.plan?.mails ?? []).filter((to) => {
    if (mailing.has(to.toLowerCase())) return false;
    const outcome = mailOf(state, 'review-requested', to)?.outcome;
    return outcome !== 'refused' && outcome !== 'unsubscribed';
  });
}

/** Notifies each operator of the failed job, or that a person has to take over. */
export async function mailOperators(run: ChangeRun, event: OperatorMailInput['event'], message: string): Promise<void> {
  const { site, rule, state, settings } = run;
  const jobId = state.job?.jobId ?? null;
  const link = event === 'job-failed' ? {} : { prLink: state.prLink };
  const mail = { site, rule, changeId: workflowInfo().workflowId, event, jobId, message, ...link };
  await sendEach(run, event, settings.operators, (to, summary) =>
    sendOperatorMail.executeWithOptions({ summary }, [{ ...mail, to }]),
  );
}

/**
 * Sends one mail to each address that got none for this event yet, all at the same time: a server that refuses or defers
 * one doesn't delay the others. The state records each result. Throws only if it is canceled.
 */
async function sendEach(
  run: ChangeRun,
  event: string,
  addresses: readonly string[],
  send: (to: string, summary: string) => Promise<MailResult>,
): Promise<void> {
  const { state } = run;
  const people = uniqueAddresses(addresses);
  if (people.length > MAX_RECIPIENTS) {
    addNote(state, `${event}: only the first ${MAX_RECIPIENTS} of ${people.length} people get mail`);
  }
  const remaining = people.slice(0, MAX_RECIPIENTS).filter((to) => mailOf(state, event, to) === undefined);
  await inProgress(run, async () => {
    const sent = await Promise.allSettled(
      remaining.map(async (to) => {
        try {
          mailSent(state, event, to, await send(to, `${event} to ${to}`.slice(0, 200)));
        } catch (error) {
          // A run that continues as new waits for mails that are being sent, so a canceled one was never begun.
          const begun = !isCancellation(error) || isOver(state.phase) || run.cancelRequested;
          if (begun) mailSent(state, event, to, isCancellation(error) ? INTERRUPTED : resultOfFailedSend(error));
          if (isCancellation(error)) throw error;
        }
      }),
    );
    for (const outcome of sent) if (outcome.status === 'rejected') throw outcome.reason;
  });
}

export function mailOf({ mails }: State, event: string, to: string): MailRecord | undefined {
  return mails.find((mail) => mail.event === event && mail.to === to);
}
