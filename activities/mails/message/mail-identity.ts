import { sha256Hex } from '../../../base/sha256.ts';

/**
 * Message ids. They depend only on what the mail is about, never on the time: a mail that is sent again has the same
 * id, and mail programs can build threads.
 */

/** The id of one event's mail to one address, in angle brackets. `domain` is the sender's. */
export function messageId(
  { changeId, event, to }: { changeId: string; event: string; to: string },
  domain: string,
): string {
  return `<${event.replace(/[^\w-]/g, '')}.${hashOf(changeId, event, to.toLowerCase())}@${domain}>`;
}

/**
 * What all mails about one pull request refer to. No mail has this id; mail programs only need the shared reference.
 */
export function threadId(pullRequestUrl: string, domain: string): string {
  return `<pull-request.${hashOf(pullRequestUrl)}@${domain}>`;
}

/** `List-Id` of a rule's mails, for filters (RFC 2919). Names of sites and rules are valid domain labels. */
export function listId({ site, rule }: { site: string; rule: string }, domain: string): string {
  return `<${rule}.${site}.galley.${domain}>`.toLowerCase();
}

function hashOf(...parts: string[]): string {
  return sha256Hex(parts.join('\n')).slice(0, 32);
}
