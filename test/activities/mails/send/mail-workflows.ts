// The workflows of these tests: one sends a mail like a change does, and one replaces a rule.
import { ActivityCancellationType, condition, defineQuery, proxyActivities, setHandler } from '@temporalio/workflow';
import type { MailResult, OperatorMailInput, ReviewMailInput } from '../../../../activities/mails/mail-input.ts';

export type MailActivities = {
  sendReviewMail(scenario: string, input: ReviewMailInput): Promise<MailResult>;
  sendOperatorMail(scenario: string, input: OperatorMailInput): Promise<MailResult>;
};

export type Timeouts = { heartbeatMs: number; attemptMs?: number };

function activities({ heartbeatMs, attemptMs = 120_000 }: Timeouts) {
  return proxyActivities<MailActivities>({
    heartbeatTimeout: heartbeatMs,
    startToCloseTimeout: attemptMs,
    cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
    retry: { initialInterval: '200ms', maximumInterval: '1s' },
  });
}

export async function reviewMail(scenario: string, input: ReviewMailInput, timeouts: Timeouts): Promise<MailResult> {
  return await activities(timeouts).sendReviewMail(scenario, input);
}

export async function operatorMail(
  scenario: string,
  input: OperatorMailInput,
  timeouts: Timeouts,
): Promise<MailResult> {
  return await activities(timeouts).sendOperatorMail(scenario, input);
}

/** Returns the given state. `null` makes the query fail. */
export async function ruleStandIn(state: unknown): Promise<void> {
  setHandler(defineQuery('state'), () => {
    if (state === null) throw new Error('not now');
    return state;
  });
  await condition(() => false);
}
