import { createHash } from 'node:crypto';

/**
 * The ids of mails. They are made of what the mail is about, never of the moment, so that a mail that is sent again has
 * the id that it had, and mail programs join what belongs together.
 */

/** The id of one event's mail to one address, in its angle brackets. `domain` is that of the sender. */
export function messageId(
  { changeId, event, to }: { changeId: string; event: string; to: string },
  domain: string,
): string {
  return `<${event.replace(/[^\w-]/g, '')}.${hashOf(changeId, event, to.toLowerCase())}@${domain}>`;
}

/** What every mail about one pull request refers to. No mail has this id: mail programs need only that they share it. */
export function threadId(pullRequestUrl: string, domain: string): string {
  return `<pull-request.${hashOf(pullRequestUrl)}@${domain}>`;
}

/** `List-Id` of a rule's mails, for filters (RFC 2919). Names of sites and rules are parts of a domain name as they are. */
export function listId({ site, rule }: { site: string; rule: string }, domain: string): string {
  return `<${rule}.${site}.galley.${domain}>`.toLowerCase();
}

function hashOf(...parts: string[]): string {
  return createHash('sha256').update(parts.join('\n')).digest('hex').slice(0, 32);
}
