import { z } from 'zod';
import { pullRequestState, review } from './pull-request-event.ts';

/** What the queries `state` of `agentRule` and `agentChange` answer. Times are RFC 3339. */

export const agentChangePhase = z.enum([
  'prompting',
  'working',
  'notifying',
  'in-review',
  'merged',
  'closed',
  'expired',
  'unchanged',
  'failed',
  'cancelled',
]);
export type AgentChangePhase = z.infer<typeof agentChangePhase>;

export const agentRulePhase = z.enum(['idle', 'collecting', 'limited', 'unconfigured']);

/** How a change ended. `message` is the error of a failed one, and of an unchanged one what the agent said last. */
export const changeEnd = z.object({ phase: agentChangePhase, message: z.string().nullable() });
export type ChangeEnd = z.infer<typeof changeEnd>;

/** The payload of the signal `changeEnded`. */
export const changeEnded = changeEnd.extend({ workflowId: z.string() });
export type ChangeEnded = z.infer<typeof changeEnded>;

/** A change that a rule started; `end` once the rule was told of it. */
export const startedChange = z.object({ workflowId: z.string(), startedAt: z.string(), end: changeEnd.optional() });

/**
 * Where a rule stands. `limited`: `maxPerHour` prompts were started, and what is collected waits for its turn.
 * `unconfigured`: no worker that was asked has the rule in its galley.yaml, so its last known settings stay in force.
 */
export const agentRuleState = z.object({
  site: z.string(),
  rule: z.string(),
  phase: agentRulePhase,
  /** Events collected and not yet prompted. */
  pendingCount: z.int(),
  /** When they will be; null where there are none. */
  dueAt: z.string().nullable(),
  /** The newest changes first, a bounded number. */
  changes: z.array(startedChange),
  /** Addresses that want no more of this rule's mail. */
  unsubscribed: z.array(z.string()),
  /** Why the rule isn't as it should be; null where nothing is wrong. Releases before 0.2 gave none. */
  error: z.string().nullable().default(null),
});
export type AgentRuleState = z.infer<typeof agentRuleState>;

/**
 * `unknown`: the mail server's answer was lost, so the mail may or may not have arrived; it is never sent again.
 * `refused`: the server will never take it. `unsubscribed`: the reviewer asked for no more.
 */
export const mailOutcome = z.enum(['sent', 'unknown', 'refused', 'unsubscribed']);
export type MailOutcome = z.infer<typeof mailOutcome>;

/** One message to one person: `event` is what it told of. */
export const mailRecord = z.object({
  event: z.string(),
  to: z.string(),
  outcome: mailOutcome,
  detail: z.string().nullable(),
  at: z.string(),
});
export type MailRecord = z.infer<typeof mailRecord>;

/** Who was asked for a review on the forge, and who couldn't be. */
export const reviewRequestReport = z.object({
  requested: z.array(z.string()),
  refused: z.array(z.object({ name: z.string(), reason: z.string() })),
});
export type ReviewRequestReport = z.infer<typeof reviewRequestReport>;

/** Where one change stands, from the prompt to the end of its pull request. */
export const agentChangeState = z.object({
  site: z.string(),
  rule: z.string(),
  phase: agentChangePhase,
  jobId: z.string().nullable(),
  prLink: z.string().nullable(),
  pullRequest: z.object({ title: z.string(), state: pullRequestState }).nullable(),
  error: z.string().nullable(),
  /** What the agent said last, of a change that is `unchanged`; null if the service doesn't tell. */
  lastWords: z.string().nullable().default(null),
  /** What was left out or went differently, each a sentence: no mail server is configured, say. */
  notes: z.array(z.string()),
  mails: z.array(mailRecord),
  reviewRequests: reviewRequestReport,
  reviews: z.array(review),
  nextReminderAt: z.string().nullable(),
  expiresAt: z.string().nullable(),
});
export type AgentChangeState = z.infer<typeof agentChangeState>;
