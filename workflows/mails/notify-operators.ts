import { condition } from '@temporalio/workflow';
import { z } from 'zod';
import type { MailResult } from '../../activities/mails/mail-input.ts';
import { type MailRecord, mailRecord } from '../../contract/agent-state.ts';
import { runUntil, waitAtMost } from '../entity/coroutines.ts';
import { operatorsWithout } from './mail-record.ts';
import { type DueMail, sendDueMails } from './send-due-mails.ts';

const MAX_TOLD = 100;

/** Who may have got the mail about a failure, when that began, and no mail yet that it is over. */
const told = z.object({ to: z.string(), sinceMs: z.number() });

/** A failure that persists: when it began, the mails about it, and whether it was reported to other targets. */
export const incident = z.object({
  sinceMs: z.number(),
  /** Only mails that it is over are left to send. */
  over: z.boolean(),
  mails: z.array(mailRecord).max(MAX_TOLD),
  reported: z.boolean(),
  /** Also of earlier failures. */
  told: z.array(told).max(MAX_TOLD),
});
type Incident = z.infer<typeof incident>;

/** What is watched for failures, and how its operators are notified. */
export type IncidentSource<Event extends string> = {
  state: { trouble: Incident | null };
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

/** Whether the present failure has persisted. */
type Watch = { isLasting: boolean };

/**
 * Sends each operator one mail when a failure persists, and one when it is over, and reports both to other targets. Does
 * nothing without operators (or a mail server) and other targets. An operator whose mail server defers the first mail until
 * the failure is over gets neither.
 */
export async function notifyOperators<Event extends string>(source: IncidentSource<Event>): Promise<void> {
  const watch: Watch = { isLasting: false };
  const parts = [() => followIncidents(source, watch), () => sendDueMails(() => dueMails(source, watch))];
  await runUntil(parts, () => false);
}

async function followIncidents<E extends string>(source: IncidentSource<E>, watch: Watch): Promise<void> {
  const { state, isFailing } = source;
  for (;;) {
    await condition(() => state.trouble !== null || (isFailing() && isAnyoneNotified(source)));
    state.trouble ??= newIncident(Date.now());
    const { trouble } = state;
    if (!trouble.over) {
      watch.isLasting = await persists(source, trouble.sinceMs);
      if (watch.isLasting) reportFailed(source, trouble);
      await condition(() => !isFailing());
      watch.isLasting = false;
      trouble.over = true;
      if (trouble.reported) source.report?.recovered(new Date(trouble.sinceMs));
    }
    await condition(() => isFailing() || trouble.told.length === 0);
    state.trouble = isFailing() ? newIncident(Date.now(), trouble.told) : null;
  }
}

function newIncident(sinceMs: number, told: Incident['told'] = []): Incident {
  return { sinceMs, over: false, mails: [], reported: false, told };
}

function isAnyoneNotified<E extends string>({ operators, report }: IncidentSource<E>): boolean {
  return operators().length > 0 || report?.isWanted() === true;
}

/** Once per failure. */
function reportFailed<E extends string>({ report }: IncidentSource<E>, trouble: Incident): void {
  if (trouble.reported || report === undefined) return;
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

/** One lane per operator: the end of a failure is never reported before the failure. */
function dueMails<E extends string>(source: IncidentSource<E>, watch: Watch): DueMail[] {
  const { state, isFailing, events } = source;
  const { trouble } = state;
  if (trouble === null) return [];
  if (!isFailing()) return trouble.told.map((one) => recoveredMail(source, watch, one));
  if (!watch.isLasting) return [];
  const { mails, sinceMs } = trouble;
  return operatorsWithout(mails, events.failing, source.operators()).map((to) => failingMail(source, { to, sinceMs }));
}

function failingMail<E extends string>(source: IncidentSource<E>, { to, sinceMs }: z.infer<typeof told>): DueMail {
  const { state, isFailing, events } = source;
  return {
    event: events.failing,
    to,
    lane: to.toLowerCase(),
    isWanted: () => isFailing() && state.trouble?.sinceMs === sinceMs,
    send: (...mail) => source.send(events.failing, new Date(sinceMs))(...mail),
    onSent(record) {
      // The failure may have ended while the mail server had the mail.
      state.trouble ??= { ...newIncident(sinceMs), over: true };
      addRecord(state.trouble, sinceMs, record);
      if (record.outcome === 'refused') return;
      state.trouble.told = [...withoutOperator(state.trouble, to), { to, sinceMs }].slice(-MAX_TOLD);
    },
  };
}

function recoveredMail<E extends string>(
  source: IncidentSource<E>,
  watch: Watch,
  { to, sinceMs }: z.infer<typeof told>,
): DueMail {
  const { state, events } = source;
  return {
    event: events.recovered,
    to,
    lane: to.toLowerCase(),
    isWanted: () => !watch.isLasting,
    send: (...mail) => source.send(events.recovered, new Date(sinceMs))(...mail),
    onSent(record) {
      if (state.trouble === null) return;
      addRecord(state.trouble, sinceMs, record);
      state.trouble.told = withoutOperator(state.trouble, to);
    },
  };
}

function addRecord(trouble: Incident, sinceMs: number, record: MailRecord): void {
  if (trouble.sinceMs === sinceMs) trouble.mails.push(record);
}

function withoutOperator({ told }: Incident, to: string): Incident['told'] {
  return told.filter((one) => one.to !== to);
}
