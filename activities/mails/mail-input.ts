import type { MailOutcome } from '../../contract/agent-state.ts';
import type { PublishEvent } from '../../contract/publish-event.ts';
import type { OpenProblem } from '../../contract/watchdog.ts';

/**
 * The reason for a mail to a reviewer. Each reviewer gets one mail per event. `follow-up`: the agent worked on a review.
 * `person-needed`: it can't.
 */
type ReviewMailEvent = 'review-requested' | `reminder-${number}` | `follow-up-${number}` | PersonNeeded;

type PersonNeeded = `person-needed-${number}`;

/** One mail to one reviewer. The Message-ID is made of `changeId` (the workflow's id), `event` and `to`. */
export type ReviewMailInput = {
  site: string;
  rule: string;
  changeId: string;
  event: ReviewMailEvent;
  to: string;
  pullRequest: { url: string; title: string };
  /** The newest event that caused the change. */
  publish: PublishEvent;
  /** How many events caused the change, including the newest. */
  eventCount: number;
  /** When the review was first requested (RFC 3339); reminders mention it. Default: the publish. */
  requestedAt?: string;
  /**
   * Of `follow-up` and `person-needed`: who requested changes, why a person has to take over (null if none has to), and
   * what the agent printed last.
   */
  followUp?: { reviewer: string; reason: string | null; said: string | null };
};

/** One mail to one operator about a failed job, or a change that needs a person but has no reviewer with mail. */
export type OperatorMailInput = {
  site: string;
  rule: string;
  changeId: string;
  event: 'job-failed' | PersonNeeded;
  to: string;
  /** Null if the job was never accepted. */
  jobId: string | null;
  message: string;
  /** The pull request of `person-needed`. */
  prLink?: string | null;
};

/**
 * `site-not-served`: a deployment answered that it doesn't serve a version; `site-unknown`: it doesn't answer. `site-approval`:
 * a version waits for a person. `site-link`: the link of a version that an operator chose can't be renewed. `site-proposal`: a
 * pull request with a new link isn't merged.
 */
type SiteMailEvent =
  | 'site-trouble'
  | 'site-recovered'
  | 'site-review'
  | 'site-not-served'
  | 'site-unknown'
  | 'site-approval'
  | 'site-link'
  | 'site-proposal';

/** One mail to one operator about a site or one of its deployments. Times are RFC 3339. */
export type SiteMailInput = {
  site: string;
  domain: string;
  workflowId: string;
  event: SiteMailEvent;
  to: string;
  /** When it began; with `event`, `deployment` and `to` it makes the Message-ID. */
  since: string;
  /** What fails, or why the export is held; null if nothing fails. */
  error: { message: string; status: number | null } | null;
  /** The served version and its link's expiry. */
  version: string | null;
  linkExpiresAt: string | null;
  /** The name of the deployment; null if the mail is about the whole site. */
  deployment: string | null;
  /**
   * What to open: the deployment; for `site-approval` one that serves the version already; for `site-proposal` the pull
   * request. Null if unknown.
   */
  url: string | null;
  /** Shows the version that waits for a person, for a day. */
  previewUrl?: string | undefined;
  /** All but `site-trouble` and `site-recovered` name the version, and the site's page if its URL is known. */
  heldVersion?: string;
  pageUrl?: string | null | undefined;
};

/** One mail to one operator: no worker that was asked knows a rule, or one does again. Times are RFC 3339. */
export type RuleMailInput = {
  site: string;
  rule: string;
  workflowId: string;
  event: 'rule-trouble' | 'rule-recovered';
  to: string;
  /** When the failure began; with `event` and `to` it makes the Message-ID. */
  since: string;
  /** Why the rule has no settings; null once it has. */
  error: string | null;
  /** Events collected but not yet in a prompt. */
  pendingCount: number;
  /** Whether the rule continues with its last known settings. */
  keepsSettings: boolean;
};

/** One mail to one operator about what the watchdog found. The Message-ID is made of `workflowId`, `event` and `to`. */
export type WatchdogMailInput = {
  workflowId: string;
  event: 'watchdog';
  to: string;
  /** Found for the first time, and solved since the mail about them. Not both are empty. */
  opened: OpenProblem[];
  solved: OpenProblem[];
  /** How many others there are. */
  omitted: number;
};

/** `detail`: the mail server's response, or why the outcome is unknown or nothing was sent. */
export type MailResult = { outcome: MailOutcome; detail: string | null };
