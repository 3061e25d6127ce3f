import type { MailOutcome } from '../../contract/agent-state.ts';
import type { PublishEvent } from '../../contract/publish-event.ts';

/** What a mail to a reviewer tells of: each is told once to each address. */
export type ReviewMailEvent = 'review-requested' | `reminder-${number}`;

/** One mail to one reviewer. `changeId` is the workflow's id: with `event` and `to` it makes the mail's identity. */
export type ReviewMailInput = {
  site: string;
  rule: string;
  changeId: string;
  event: ReviewMailEvent;
  to: string;
  pullRequest: { url: string; title: string };
  /** The newest event that the change answers to. */
  publish: PublishEvent;
  /** How many events it answers to, the newest included. */
  eventCount: number;
  /** When the review was first asked for (RFC 3339): a reminder says since when it waits. Default: the publish. */
  requestedAt?: string;
};

/** One mail to one operator: a job failed, and somebody has to look. */
export type OperatorMailInput = {
  site: string;
  rule: string;
  changeId: string;
  event: 'job-failed';
  to: string;
  /** Null where the job was never accepted. */
  jobId: string | null;
  message: string;
};

/** One mail to one operator: a site can't be exported or kept fresh, or is well again. Times are RFC 3339. */
export type SiteMailInput = {
  site: string;
  domain: string;
  workflowId: string;
  event: 'site-trouble' | 'site-recovered';
  to: string;
  /** When the trouble began: with `event` and `to` it makes the mail's identity. */
  since: string;
  /** What is wrong; null once nothing is. */
  error: { message: string; status: number | null } | null;
  /** What is served meanwhile, and until when its link lasts. */
  version: string | null;
  linkExpiresAt: string | null;
};

/** One mail to one operator: no worker that is asked knows a rule, or one does again. Times are RFC 3339. */
export type RuleMailInput = {
  site: string;
  rule: string;
  workflowId: string;
  event: 'rule-trouble' | 'rule-recovered';
  to: string;
  /** When the trouble began: with `event` and `to` it makes the mail's identity. */
  since: string;
  /** Why the rule has no settings; null once it has. */
  error: string | null;
  /** Events collected and not yet prompted. */
  pendingCount: number;
  /** Whether it goes on with the last settings that it was told. */
  keepsSettings: boolean;
};

/** `detail` is the mail server's answer, or a sentence on why it isn't known or nothing was sent. */
export type MailResult = { outcome: MailOutcome; detail: string | null };
