import { Context } from '@temporalio/activity';
import type { Client } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import type { Logger } from 'pino';
import { z } from 'zod';
import type { ForgeReader } from '../../forge/forge.ts';
import { ForgeError } from '../../forge/forge-error.ts';
import type {
  MailResult,
  OperatorMailInput,
  ReviewMailInput,
  RuleMailInput,
  SiteMailInput,
  WatchdogMailInput,
} from './mail-input.ts';
import type { OutgoingMail, Sender } from './message/compose-mail.ts';
import { plainLine } from './message/compose-mail.ts';
import { composeAgentFailureMail } from './operators/agent-failure-mail.ts';
import { composeRuleMail } from './operators/rule-mail.ts';
import { composeSiteMail } from './operators/site-mail.ts';
import { composeWatchdogMail } from './operators/watchdog-mail.ts';
import { hasUnsubscribed } from './reviewers/has-unsubscribed.ts';
import { composeReviewMail } from './reviewers/review-mail.ts';
import { createUnsubscribeLink } from './reviewers/unsubscribe-link.ts';
import type { Mailer } from './send/mailer.ts';
import { type MailFailureType, retryLater, UNSENT } from './send/retry-later.ts';
import { earlierResult, type SendOnceDeps, sendOnce } from './send/send-once.ts';

export type MailActivityDeps = {
  /** Undefined without `smtp` in galley.yaml. The caller closes it after the worker has ended. */
  mailer?: Mailer | undefined;
  /** Stores the sending mark and queries who unsubscribed; the worker's own client by default. */
  client?: Client | undefined;
  /** The receiver's public URL; without it mails have no unsubscribe link. */
  publicUrl?: string | undefined;
  /** Makes the reviewers' own links; without it a mail only links the pull request's page. */
  forge?: Pick<ForgeReader, 'reviewLink'> | undefined;
  /** Signs unsubscribe links. */
  unsubscribeKey: string;
  logger: Logger;
  timing?: SendOnceDeps['timing'];
};

/** What a mail is composed with. `date` is when it was first meant to be sent: every attempt sends the same bytes. */
type Mailing = { sender: Sender; client: Client; date: Date };

/**
 * Mails to reviewers and operators, each to one address and at most once (send-once.ts). Call them with
 * `heartbeatTimeout: '30s'` (a mail server must take a message up to its last line within it), `startToCloseTimeout:
 * '5m'` and unlimited attempts: waits and giving up after 36 hours are decided here.
 */
export function createMailActivities(deps: MailActivityDeps) {
  const { mailer, logger, timing = {} } = deps;
  return {
    /** Requests a review from one reviewer, or sends a reminder. */
    async sendReviewMail(input: ReviewMailInput): Promise<MailResult> {
      return await send(input, (mailing) => prepareReviewMail(deps, input, mailing));
    },

    /** Reports a failed job to one operator. */
    async sendOperatorMail(input: OperatorMailInput): Promise<MailResult> {
      return await send(input, async (mailing) => composeAgentFailureMail(input, mailing));
    },

    /** Reports to one operator that a site fails, or works again. */
    async sendSiteMail(input: SiteMailInput): Promise<MailResult> {
      return await send({ ...input, changeId: input.workflowId }, async (mailing) => composeSiteMail(input, mailing));
    },

    /** Reports to one operator that no worker knows a rule, or that one does again. */
    async sendRuleMail(input: RuleMailInput): Promise<MailResult> {
      return await send({ ...input, changeId: input.workflowId }, async (mailing) => composeRuleMail(input, mailing));
    },

    /** Reports to one operator what the watchdog found, or that it is solved. */
    async sendWatchdogMail(input: WatchdogMailInput): Promise<MailResult> {
      const { workflowId: changeId, event, to } = input;
      return await send({ changeId, event, to }, async (mailing) => composeWatchdogMail(input, mailing));
    },
  };

  async function send(
    input: { site?: string; rule?: string; event: string; changeId: string; to: string },
    compose: (mailing: Mailing) => Promise<OutgoingMail | MailResult>,
  ): Promise<MailResult> {
    const result = await resultOf(input.to, compose);
    const { site, rule, event, changeId } = input;
    // The log doesn't name the recipient; the workflow's state does, for those who may read it.
    logger.info({ site, rule, event, workflowId: changeId, outcome: result.outcome }, 'mail');
    countMail(event, result);
    return result;
  }

  async function resultOf(
    to: string,
    compose: (mailing: Mailing) => Promise<OutgoingMail | MailResult>,
  ): Promise<MailResult> {
    const startedMs = Date.now();
    const context = Context.current();
    if (mailer === undefined) {
      throw ApplicationFailure.create({ type: 'NoMailServer', message: 'smtp is not configured', nonRetryable: true });
    }
    const earlier = earlierResult();
    if (earlier !== null) return earlier;
    // Owners' addresses come from files and profiles that anyone can write.
    if (!z.email().safeParse(to).success) {
      return { outcome: 'refused', detail: `not a mail address: ${plainLine(to, 100)}` };
    }
    const client = deps.client ?? context.client;
    const date = new Date(context.info.scheduledTimestampMs);
    const mail = await compose({ sender: mailer.sender, client, date });
    return 'outcome' in mail ? mail : await sendOnce({ mailer, client, timing }, mail, startedMs);
  }
}

function countMail(event: string, { outcome }: MailResult): void {
  const counter = Context.current().metricMeter.createCounter('galley_mails', '', 'Mails by event and outcome.');
  // Reminders are numbered.
  counter.add(1, { event: event.replace(/-\d+$/, ''), outcome });
}

/** The mail, or the result if it isn't sent now. */
async function prepareReviewMail(
  deps: MailActivityDeps,
  input: ReviewMailInput,
  { sender, client, date }: Mailing,
): Promise<OutgoingMail | MailResult> {
  const { site, rule, to: address } = input;
  const { forge, logger, publicUrl, unsubscribeKey, timing } = deps;
  const later = (type: MailFailureType, what: string, error: unknown): MailResult => {
    const reason = plainLine(`${what}: ${error instanceof Error ? error.message : error}`, 300);
    return retryLater(type, reason, timing?.unsent ?? UNSENT);
  };
  try {
    if (await hasUnsubscribed(client, input)) return { outcome: 'unsubscribed', detail: null };
  } catch (error) {
    return later('SubscriptionsUnknown', "who has unsubscribed can't be read", error);
  }
  let reviewLink: string | null = null;
  try {
    reviewLink = (await forge?.reviewLink(input.pullRequest.url, address)) ?? null;
  } catch (error) {
    if (!(error instanceof ForgeError)) throw error;
    if (error.retryable) return later('ReviewLinkUnknown', "the reviewer's link can't be made", error);
    // Send the mail anyway: the pull request may have ended, or it is on another forge.
    logger.warn({ site, rule, reason: plainLine(error.message, 300) }, "A mail has no reviewer's link of its own");
  }
  const unsubscribeLink =
    publicUrl === undefined ? null : createUnsubscribeLink(publicUrl, { site, rule, address }, unsubscribeKey);
  return composeReviewMail(input, { sender, date, unsubscribeLink, reviewLink });
}
