import type { MailOutcome } from '../../contract/agent-state.ts';
import type { PublishEvent } from '../../contract/publish-event.ts';
import type { PullRequestState, Review } from '../../contract/pull-request-event.ts';

/** What a change asks of the forge and of the mail server, as its workflow calls it. */
export type ReviewActivities = {
  /** Who is to review a pull request: the rule's list and the owners of the changed files, without the author. */
  planReview(input: { site: string; rule: string; prLink: string; reviewers: string[] }): Promise<ReviewPlan>;
  /** Asks people and teams on the forge; one that it refuses doesn't stop the others. */
  requestReview(input: { prLink: string; logins: string[]; teams: string[] }): Promise<ReviewRequestReport>;
  readPullRequest(input: { prLink: string }): Promise<PullRequestReading>;
  /** At most one mail for each event, change and address, however often it is called. */
  sendReviewMail(input: ReviewMail): Promise<MailReport>;
  sendOperatorMail(input: OperatorMail): Promise<MailReport>;
};

/** `mails` get mail; `logins` and `teams` are asked on the forge. */
export type ReviewPlan = { title: string; mails: string[]; logins: string[]; teams: string[] };

export type ReviewRequestReport = { requested: string[]; refused: { name: string; reason: string }[] };

export type PullRequestReading = {
  state: PullRequestState;
  title: string;
  mergeCommitSha: string | null;
  reviews: Review[];
};

export type ReviewMail = {
  site: string;
  rule: string;
  /** The change's workflow id: with the event and the address it makes the Message-ID. */
  changeId: string;
  /** `review-requested`, `reminder-1` and so on. */
  event: string;
  to: string;
  pullRequest: { url: string; title: string };
  /** The newest of the events that the change stands for, and how many there were. */
  publish: PublishEvent;
  eventCount: number;
};

export type OperatorMail = {
  site: string;
  rule: string;
  changeId: string;
  event: string;
  to: string;
  /** Null where the job was never made. */
  jobId: string | null;
  message: string;
};

export type MailReport = { outcome: MailOutcome; detail: string | null };
