import { z } from 'zod';
import { pullRequestState, review } from './pull-request-event.ts';

/** The results of the queries `state` of `agentRule` and `agentChange`. Times are RFC 3339. */

export const agentChangePhase = z.enum([
  'prompting',
  'working',
  'notifying',
  'in-review',
  'revising',
  'merged',
  'closed',
  'expired',
  'unchanged',
  'failed',
  'cancelled',
]);
export type AgentChangePhase = z.infer<typeof agentChangePhase>;

const agentRulePhase = z.enum(['idle', 'collecting', 'limited', 'unconfigured']);

/** How a change ended. `message`: the error of a failed one, the agent's last words of an unchanged one. */
const changeEnd = z.object({ phase: agentChangePhase, message: z.string().nullable() });

/** The payload of the signal `changeEnded`. The phase is `in-review` if a closed pull request was reopened. */
export const changeEnded = changeEnd.extend({ workflowId: z.string() });
export type ChangeEnded = z.infer<typeof changeEnded>;

/** A change that a rule started; `end` once the change has reported it. */
export const startedChange = z.object({ workflowId: z.string(), startedAt: z.string(), end: changeEnd.optional() });

/**
 * A rule's phase. `limited`: `maxPerHour` prompts were started, and collected events wait. `unconfigured`: no worker
 * that was asked has the rule in its galley.yaml, so its last known settings apply.
 */
export const agentRuleState = z.object({
  site: z.string(),
  rule: z.string(),
  phase: agentRulePhase,
  /** Events collected but not yet in a prompt. */
  pendingCount: z.int(),
  /** When they will be prompted; null if there are none. */
  dueAt: z.string().nullable(),
  /** Newest first, limited. */
  changes: z.array(startedChange),
  /** Addresses that have unsubscribed from this rule's mail. */
  unsubscribed: z.array(z.string()),
  /** What is wrong with the rule; null if nothing. */
  error: z.string().nullable(),
  /** The newest event collected, which `runAgain` prompts again. */
  newest: z.object({ title: z.string(), at: z.string() }).nullable(),
});
export type AgentRuleState = z.infer<typeof agentRuleState>;

/**
 * `unknown`: the mail server's response was lost, so the mail may have arrived; it is never sent again. `refused`: the
 * server will never accept it. `unsubscribed`: the reviewer has unsubscribed.
 */
export const mailOutcome = z.enum(['sent', 'unknown', 'refused', 'unsubscribed']);
export type MailOutcome = z.infer<typeof mailOutcome>;

/** One message to one person about `event`. */
export const mailRecord = z.object({
  event: z.string(),
  to: z.string(),
  outcome: mailOutcome,
  detail: z.string().nullable(),
  at: z.string(),
});
export type MailRecord = z.infer<typeof mailRecord>;

/** The reviewers that were requested on the forge, and those that it rejected. */
export const reviewRequestReport = z.object({
  requested: z.array(z.string()),
  refused: z.array(z.object({ name: z.string(), reason: z.string() })),
});
export type ReviewRequestReport = z.infer<typeof reviewRequestReport>;

/** The reviews that became follow-up prompts of the agent. */
export const followUpsState = z.object({
  sent: z.int(),
  max: z.int(),
  /** The last review by a requested reviewer that requests changes. */
  lastReview: z.object({ id: z.string(), reviewer: z.string(), at: z.string() }).nullable(),
  waitsFor: z.enum(['review', 'agent', 'person']),
  /** Why a person has to take over; null unless it waits for one. */
  reason: z.string().nullable(),
});

/** The state of one change, from the prompt to the end of its pull request. */
export const agentChangeState = z.object({
  site: z.string(),
  rule: z.string(),
  phase: agentChangePhase,
  jobId: z.string().nullable(),
  prLink: z.string().nullable(),
  pullRequest: z.object({ title: z.string(), state: pullRequestState }).nullable(),
  error: z.string().nullable(),
  /** The agent's last words if the change is `unchanged`; null if the service doesn't give them. */
  lastWords: z.string().nullable(),
  /** What was skipped or went differently, as sentences, for example that no mail server is configured. */
  notes: z.array(z.string()),
  mails: z.array(mailRecord),
  reviewRequests: reviewRequestReport,
  reviews: z.array(review),
  /** Null without `followUps` in galley.yaml. */
  followUps: followUpsState.nullable().default(null),
  nextReminderAt: z.string().nullable(),
  expiresAt: z.string().nullable(),
});
export type AgentChangeState = z.infer<typeof agentChangeState>;
