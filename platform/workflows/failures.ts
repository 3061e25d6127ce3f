import { ActivityFailure, ApplicationFailure, isCancellation } from '@temporalio/workflow';

/**
 * The job's error for its owner: the reason if its failure type is one of those for people
 * (platform/activities/agent/agent-step.ts), otherwise nothing internal.
 */
const textFor =
  (peoplesTypes: readonly string[], otherwise: string) =>
  (error: unknown): string => {
    if (isCancellation(error)) return 'cancelled';
    const cause = error instanceof ActivityFailure ? error.cause : error;
    return cause instanceof ApplicationFailure && peoplesTypes.includes(cause.type ?? '') ? cause.message : otherwise;
  };

export const exportFailureText = textFor(
  ['ExportImpossible'],
  'The export failed because of an internal error; starting it again may help',
);

export const agentFailureText = textFor(
  ['AgentImpossible', 'AgentTrouble'],
  'The job failed because of an internal error; sending its prompt again may help',
);

/** Failure types that the workflow handles. */
type FailureType =
  /** URLs are still queued, so the paths can't be frozen. */
  | 'CrawlUnfinished'
  /** An object that the export stored or reused is gone from the store or damaged. */
  | 'ExportInputGone';

export function isFailureOf(type: FailureType, error: unknown): boolean {
  const cause = error instanceof ActivityFailure ? error.cause : undefined;
  return cause instanceof ApplicationFailure && cause.type === type;
}
