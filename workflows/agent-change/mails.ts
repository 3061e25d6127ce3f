import { isCancellation, workflowInfo } from '@temporalio/workflow';
import type { MailResult, OperatorMailInput, ReviewMailInput } from '../../activities/reviewers/mail-input.ts';
import type { MailRecord } from '../../contract/agent-state.ts';
import { eachOnce, mailRecord, withoutAnswer } from '../mails/mail-record.ts';
import { sendOperatorMail, sendReviewMail } from './activity-proxies.ts';
import { addNote, type ChangeMemory } from './change-memory.ts';
import { type ChangeRun, underWay } from './change-run.ts';
import { isOver } from './phase.ts';

/** What is remembered of mails has to stay small. */
const MAX_RECIPIENTS = 50;

const CUT_SHORT: MailResult = { outcome: 'unknown', detail: 'the change ended while it was being sent' };

/**
 * Sends one mail of an event to each address, all at the same time: one that is refused, or put off by its server for
 * hours, delays no other. Each is at most one, and its outcome is in the memory. Never throws but where it is cancelled.
 */
export async function mailReviewers(
  run: ChangeRun,
  event: ReviewMailInput['event'],
  addresses: readonly string[],
): Promise<void> {
  const { site, rule, memory } = run;
  const { prLink, reviewSinceMs } = memory;
  const publish = memory.events.at(-1);
  if (prLink === null || publish === undefined) return;
  const mail = {
    site,
    rule,
    changeId: workflowInfo().workflowId,
    event,
    // As it was when reviews were first asked for: under another subject a reminder would be a thread of its own.
    pullRequest: { url: prLink, title: memory.plan?.title ?? '' },
    publish,
    eventCount: memory.eventCount,
    requestedAt: new Date(reviewSinceMs ?? Date.now()).toISOString(),
  };
  await sendEach(run, event, addresses, async (to, summary) => {
    const asks = event === 'review-requested';
    if (asks) run.beingAsked.add(to.toLowerCase());
    try {
      return await sendReviewMail.executeWithOptions({ summary }, [{ ...mail, to }]);
    } finally {
      if (asks) run.beingAsked.delete(to.toLowerCase());
    }
  });
}

/** Tells each operator that the job failed. */
export async function mailOperators(run: ChangeRun, message: string): Promise<void> {
  const { site, rule, memory, settings } = run;
  const event: OperatorMailInput['event'] = 'job-failed';
  const jobId = memory.job?.jobId ?? null;
  const mail = { site, rule, changeId: workflowInfo().workflowId, event, jobId, message };
  await sendEach(run, event, settings.operators, (to, summary) =>
    sendOperatorMail.executeWithOptions({ summary }, [{ ...mail, to }]),
  );
}

async function sendEach(
  run: ChangeRun,
  event: string,
  addresses: readonly string[],
  send: (to: string, summary: string) => Promise<MailResult>,
): Promise<void> {
  const { memory } = run;
  const people = eachOnce(addresses);
  if (people.length > MAX_RECIPIENTS) {
    addNote(memory, `${event}: only the first ${MAX_RECIPIENTS} of ${people.length} people get mail`);
  }
  const wanted = people.slice(0, MAX_RECIPIENTS).filter((to) => mailOf(memory, event, to) === undefined);
  await underWay(run, async () => {
    // Each is waited for, so that none is left without an outcome where one ends early.
    const sent = await Promise.allSettled(
      wanted.map(async (to) => {
        try {
          note(memory, event, to, await send(to, `${event} to ${to}`.slice(0, 200)));
        } catch (error) {
          // A run that goes on in another one leaves no mail half-sent: what it cancels was never begun.
          const begun = !isCancellation(error) || isOver(memory.phase) || run.cancelRequested;
          if (begun) note(memory, event, to, isCancellation(error) ? CUT_SHORT : withoutAnswer(error));
          if (isCancellation(error)) throw error;
        }
      }),
    );
    for (const outcome of sent) if (outcome.status === 'rejected') throw outcome.reason;
  });
}

/** What became of a mail; undefined where it wasn't sent yet. */
export function mailOf(memory: ChangeMemory, event: string, to: string): MailRecord | undefined {
  return memory.mails.find((mail) => mail.event === event && mail.to === to);
}

function note(memory: ChangeMemory, event: string, to: string, result: MailResult): void {
  memory.mails = [...memory.mails, mailRecord(event, to, result)];
}
