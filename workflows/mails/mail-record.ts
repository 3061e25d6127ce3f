import type { MailResult } from '../../activities/reviewers/mail-input.ts';
import type { MailRecord } from '../../contract/agent-state.ts';
import { readFailure } from '../trouble/failures.ts';

/** What is remembered of mails has to stay small. */
const MAX_DETAIL = 120;

/** What a workflow remembers of a mail whose outcome it has just heard. */
export function mailRecord(event: string, to: string, { outcome, detail }: MailResult): MailRecord {
  return { event, to, outcome, detail: detail?.slice(0, MAX_DETAIL) ?? null, at: new Date().toISOString() };
}

/**
 * What became of a mail whose activity failed, cancelled ones apart: it gave up, so its last attempt sent nothing; or
 * time ran out while one was under way, and nobody knows.
 */
export function withoutAnswer(error: unknown): MailResult {
  const failure = readFailure(error);
  return { outcome: failure.type === 'TimedOut' ? 'unknown' : 'refused', detail: failure.message };
}

/** Each address once, whatever its case: galley.yaml may list one twice. */
export function eachOnce(addresses: readonly string[]): string[] {
  const seen = new Set<string>();
  return addresses.filter((to) => {
    const isNew = !seen.has(to.toLowerCase());
    seen.add(to.toLowerCase());
    return isNew;
  });
}
