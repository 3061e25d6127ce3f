import type { MailResult } from '../../activities/mails/mail-input.ts';
import type { MailRecord } from '../../contract/agent-state.ts';
import { readFailure } from '../failures/read-failure.ts';

const MAX_DETAIL = 120;

export function toMailRecord(event: string, to: string, { outcome, detail }: MailResult): MailRecord {
  return { event, to, outcome, detail: detail?.slice(0, MAX_DETAIL) ?? null, at: new Date().toISOString() };
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
