import { ActivityFailure, ApplicationFailure, isCancellation } from '@temporalio/workflow';

/** Failure types whose message is for the job's owner (platform/activities/agent/owner-failure.ts). */
const FOR_OWNERS = ['AgentImpossible', 'AgentTrouble'];

/** The job's error for its owner: the reason if it is meant for people, otherwise nothing internal. */
export function agentFailureText(error: unknown): string {
  if (isCancellation(error)) return 'cancelled';
  const cause = error instanceof ActivityFailure ? error.cause : error;
  if (cause instanceof ApplicationFailure && FOR_OWNERS.includes(cause.type ?? '')) return cause.message;
  return 'The job failed because of an internal error; sending its prompt again may help';
}
