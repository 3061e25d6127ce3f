import { isCancellation } from '@temporalio/workflow';
import type { MailResult } from '../../activities/mails/mail-input.ts';
import type { MailRecord } from '../../contract/agent-state.ts';
import { readFailure } from '../failures/read-failure.ts';

const MAX_DETAIL = 120;

/** The most operators notified of one event. */
const MAX_OPERATORS = 50;

export function toMailRecord(event: string, to: string, { outcome, detail }: MailResult): MailRecord {
  return { event, to, outcome, detail: detail?.slice(0, MAX_DETAIL) ?? null, at: new Date().toISOString() };
}

/** Sends one mail and returns its record. Throws only if it is canceled. */
export async function sendMail(
  event: string,
  to: string,
  send: (to: string, summary: string) => Promise<MailResult>,
): Promise<MailRecord> {
  const result = await send(to, `${event} to ${to}`.slice(0, 200)).catch((error: unknown) => {
    if (isCancellation(error)) throw error;
    return resultOfFailedSend(error);
  });
  return toMailRecord(event, to, result);
}

/**
 * The result of a mail whose activity failed. If it gave up, its last attempt sent nothing. If it timed out, an attempt
 * may have been sending.
 */
export function resultOfFailedSend(error: unknown): MailResult {
  const failure = readFailure(error);
  return { outcome: failure.type === 'TimedOut' ? 'unknown' : 'refused', detail: failure.message };
}

/** Ignores case: galley.yaml may list an address twice. */
export function uniqueAddresses(addresses: readonly string[]): string[] {
  const seen = new Set<string>();
  return addresses.filter((to) => {
    const isNew = !seen.has(to.toLowerCase());
    seen.add(to.toLowerCase());
    return isNew;
  });
}

/**
 * The operators who got no mail for this event yet. Addresses that were removed since they got theirs count against the
 * limit.
 */
export function operatorsWithout(
  records: readonly MailRecord[],
  event: string,
  operators: readonly string[],
): string[] {
  const done = new Set(records.filter((sent) => sent.event === event).map(({ to }) => to));
  const others = uniqueAddresses(operators).filter((to) => !done.has(to));
  return others.slice(0, Math.max(MAX_OPERATORS - done.size, 0));
}
