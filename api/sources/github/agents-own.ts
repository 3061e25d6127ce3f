/**
 * Tells an agent's own work from people's, so that a rule's own merges never prompt it again (design 8). The platform
 * marks its commits with a trailer and its branches with a prefix; an agent service that marks neither is known by the
 * commit that its pull request's merge reports (signal `ownMerge`).
 */

/** Blanks only: `\s` would look through all lines that follow, anew at each of a message's thousands of empty lines. */
const TRAILER = /^[ \t]*Galley-Job: aj_[0-9a-f]{16}[ \t\r]*$/m;

/** As GitHub, Gitea and git itself write the first line of a merge. */
const MERGE_OF_AGENT_BRANCH = /^Merge (?:pull request|branch|remote-tracking branch) .*\bgalley\/aj_[0-9a-f]{16}\b/;

/**
 * True where the push merges an agent's branch, whatever else people added to that branch, or where every commit of it
 * is the agent's. A push that brings people's commits besides is a publish like any other.
 */
export function isAgentsOwn(headMessage: string, messages: readonly string[]): boolean {
  if (MERGE_OF_AGENT_BRANCH.test(headMessage)) return true;
  return [headMessage, ...messages].every((message) => TRAILER.test(message));
}
