import { condition, isCancellation } from '@temporalio/workflow';
import { z } from 'zod';
import type { MailResult } from '../../activities/mails/mail-input.ts';
import { type MailRecord, mailRecord } from '../../contract/agent-state.ts';
import { waitAtMost } from '../entity/coroutines.ts';
import { resultOfFailedSend, toMailRecord, uniqueAddresses } from './mail-record.ts';

/** The most operators notified of one event. */
const MAX_OPERATORS = 50;

/** A failure that persists: when it began, the mails about it, and whether it was reported to other targets. */
export const incident = z.object({
  sinceMs: z.number(),
  mails: z.array(mailRecord).max(100),
  reported: z.boolean(),
});

/** What is watched for failures, and how its operators are notified. */
export type IncidentSource<Event extends string> = {
  state: { trouble: z.infer<typeof incident> | null };
  isFailing: () => boolean;
  operators: () => readonly string[];
  /** How long a failure has to persist before the first mail. Most are over with the next retry. */
  notifyAfterMs: () => number;
  events: { failing: Event; recovered: Event };
  /** Reports to other targets than the operators' addresses, at the same moments. */
  report?: { isWanted: () => boolean; failed: (since: Date) => void; recovered: (since: Date) => void };
  /** Sends one mail to one address. */
  send: (event: Event, since: Date) => (to: string, summary: string) => Promise<MailResult>;
};

/**
 * Sends each operator one mail when a failure persists, and one when it is over, and reports both to other targets. Does
 * nothing without operators (or a mail server) and other targets.
 */
export async function notifyOperators<Event extends string>(source: IncidentSource<Event>): Promise<void> {
  const { state, isFailing, events } = source;
  for (;;) {
    await condition(() => (isFailing() || state.trouble !== null) && isAnyoneNotified(source));
    state.trouble ??= { sinceMs: Date.now(), mails: [], reported: false };
    if (await persists(source, state.trouble.sinceMs)) {
      reportFailed(source);
      await mail(source, events.failing, uniqueAddresses(source.operators()));
    }
    await condition(() => !isFailing());
    if (state.trouble.reported) source.report?.recovered(new Date(state.trouble.sinceMs));
    await mail(source, events.recovered, notifiedOperators(source));
    state.trouble = null;
  }
}

function isAnyoneNotified<E extends string>({ operators, report }: IncidentSource<E>): boolean {
  return operators().length > 0 || report?.isWanted() === true;
}

/** Once per failure. */
function reportFailed<E extends string>({ state: { trouble }, report }: IncidentSource<E>): void {
  if (trouble === null || trouble.reported || report === undefined) return;
  trouble.reported = true;
  report.failed(new Date(trouble.sinceMs));
}

async function persists<E extends string>(source: IncidentSource<E>, sinceMs: number): Promise<boolean> {
  const { isFailing } = source;
  const waitMs = sinceMs + source.notifyAfterMs() - Date.now();
  const summary = 'how long a failure lasts before the operators get a mail';
  if (waitMs > 0) await waitAtMost(() => !isFailing(), waitMs, summary);
  return isFailing();
}

/** Everyone who may have received the first mail. */
function notifiedOperators<E extends string>({ state, events }: IncidentSource<E>): string[] {
  const mails = state.trouble?.mails ?? [];
  return mails.filter(({ event, outcome }) => event === events.failing && outcome !== 'refused').map(({ to }) => to);
}

async function mail<E extends string>(
  source: IncidentSource<E>,
  event: E,
  addresses: readonly string[],
): Promise<void> {
  const { trouble } = source.state;
  if (trouble === null) return;
  await mailEach(trouble.mails, event, addresses, source.send(event, new Date(trouble.sinceMs)));
}

/**
 * Sends one mail to each address that got none for this event yet, and adds its outcome to the records. When the run
 * ends, mails that are being sent are finished, and the next run sends the others.
 */
export async function mailEach(
  records: MailRecord[],
  event: string,
  addresses: readonly string[],
  send: (to: string, summary: string) => Promise<MailResult>,
): Promise<void> {
  const sent = await Promise.allSettled(
    withoutMail(records, event, addresses).map(async (to) => {
      const summary = `${event} to ${to}`.slice(0, 200);
      const result = await send(to, summary).catch((error: unknown) => {
        if (isCancellation(error)) throw error;
        return resultOfFailedSend(error);
      });
      records.push(toMailRecord(event, to, result));
    }),
  );
  for (const each of sent) if (each.status === 'rejected') throw each.reason;
}

/** Those that `mailEach` sends a mail to. Addresses that were removed since they got theirs count against the limit. */
export function withoutMail(records: readonly MailRecord[], event: string, addresses: readonly string[]): string[] {
  const done = new Set(records.filter((sent) => sent.event === event).map(({ to }) => to));
  return addresses.filter((to) => !done.has(to)).slice(0, Math.max(MAX_OPERATORS - done.size, 0));
}
