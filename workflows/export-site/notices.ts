import { proxyActivities, workflowInfo } from '@temporalio/workflow';
import type { Activities } from '../../activities/create-activities.ts';
import type { SiteMailInput } from '../../activities/mails/mail-input.ts';
import type { MailRecord } from '../../contract/agent-state.ts';
import { operatorsWithout } from '../mails/mail-record.ts';
import type { IncidentSource } from '../mails/notify-operators.ts';
import { type DueMail, sendDueMails } from '../mails/send-due-mails.ts';
import { wants } from '../notifications/outbox.ts';
import { mailTimeouts } from '../retry/activity-timeouts.ts';
import { desiredVersion, follows, jobOf } from './desired-version.ts';
import { notifyFailed, notifyRecovered } from './notifications.ts';
import type { SiteRun } from './run.ts';
import type { Deployment, State } from './state.ts';
import { firstToExpire, siteVersion, troubleOf } from './status.ts';

const { sendSiteMail } = proxyActivities<Activities>(mailTimeouts);

/** A failure that lasts: one mail when it does, and one when it is over. */
export function incidentSource(run: SiteRun): IncidentSource<SiteMailInput['event']> {
  const { state, site } = run;
  return {
    state,
    isFailing: () => troubleOf(state) !== null,
    operators: () => run.settings.operators,
    notifyAfterMs: () => run.settings.tellAfterMs,
    events: { failing: 'site-trouble', recovered: 'site-recovered' },
    report: {
      isWanted: () => wants(run, 'failed') || wants(run, 'recovered'),
      failed: (since) => notifyFailed(run, since),
      recovered: (since) => notifyRecovered(run, since),
    },
    send(event, since) {
      const mail = {
        site,
        domain: run.settings.domain,
        workflowId: workflowInfo().workflowId,
        event,
        since: since.toISOString(),
        error: troubleOf(state),
        version: siteVersion(state).version,
        linkExpiresAt: firstToExpire(state)?.link.expiresAt ?? null,
        deployment: null,
        url: null,
      };
      return (to, summary) => sendSiteMail.executeWithOptions({ summary }, [{ ...mail, to }]);
    },
  };
}

type Notice = Pick<SiteMailInput, 'event' | 'since' | 'error' | 'heldVersion' | 'deployment' | 'url'> & {
  /** What it is about: the same as long as there is nothing new to say. */
  key: string;
};

/** Mails that don't wait for a failure to last: each goes once to each operator, as soon as there is a reason. */
export async function mailNotices(run: SiteRun): Promise<void> {
  await sendDueMails(() => {
    const { notices } = run.state;
    return noticesOf(run.state).flatMap((notice) =>
      operatorsWithout(notices[notice.key] ?? [], notice.event, run.settings.operators).map((to) =>
        dueMail(run, notice, to),
      ),
    );
  });
}

/** Records a mail, and forgets those about what is over. */
function recordMail(state: SiteRun['state'], key: string, record: MailRecord): void {
  const standing = new Set([key, ...noticesOf(state).map((notice) => notice.key)]);
  const kept = Object.entries(state.notices).filter(([other]) => standing.has(other));
  state.notices = { ...Object.fromEntries(kept), [key]: [...(state.notices[key] ?? []), record] };
}

export function noticesOf(state: State): Notice[] {
  const { review } = state;
  const notices = state.deployments.flatMap((each) => [
    ...answerNotices(state, each),
    ...approvalNotices(state, each),
    ...linkNotices(state, each),
  ]);
  if (review === null) return notices;
  const { jobId, at, reasons, version } = review;
  const error = { message: reasons.join('\n'), status: null };
  const held: Notice = {
    key: `review ${jobId}`,
    event: 'site-review',
    since: at,
    error,
    heldVersion: version ?? jobId,
    deployment: null,
    url: null,
  };
  return [held, ...notices];
}

/** The deployment doesn't serve a version, or nobody knows whether it does. */
function answerNotices(state: State, deployment: Deployment): Notice[] {
  const { place, name, url, answer, withheld } = deployment;
  const versionOf = (jobId: string): string => jobOf(state, jobId)?.version ?? jobId;
  const { job, reason } = desiredVersion(state, deployment);
  if (reason === 'withheld' && withheld !== null) {
    const { jobId, why, at } = withheld;
    const message = `${versionOf(jobId)} was not served by ${name}: ${why}\nRolled back to ${job === null ? 'nothing' : versionOf(job.jobId)}.`;
    const error = { message, status: null };
    return [
      {
        key: `not-served ${place} ${jobId}`,
        event: 'site-not-served',
        since: at,
        error,
        heldVersion: versionOf(jobId),
        deployment: name,
        url,
      },
    ];
  }
  if (answer === null || answer.verdict === 'served' || answer.jobId !== job?.jobId) return [];
  const { jobId, verdict, why, at } = answer;
  const event = verdict === 'other' ? 'site-not-served' : 'site-unknown';
  const error = { message: why ?? '', status: null };
  return [
    {
      key: `${event} ${place} ${jobId}`,
      event,
      since: at,
      error,
      heldVersion: versionOf(jobId),
      deployment: name,
      url,
    },
  ];
}

/** A version waits for a person. The mail names a deployment of an earlier wave that serves it already. */
function approvalNotices(state: State, deployment: Deployment): Notice[] {
  const { place, name, wave } = deployment;
  const { reason, waitsFor } = desiredVersion(state, deployment);
  if (reason !== 'waits-for-approval' || waitsFor === null) return [];
  const shown = state.deployments.find((each) => each.wave < wave && follows(each) && each.lastGood === waitsFor.jobId);
  const version = waitsFor.version ?? waitsFor.jobId;
  const since = waitsFor.exportedAt ?? waitsFor.createdAt ?? new Date(state.epochMs).toISOString();
  const key = `approval ${place} ${waitsFor.jobId}`;
  return [
    {
      key,
      event: 'site-approval',
      since,
      error: null,
      heldVersion: version,
      deployment: name,
      url: shown?.url ?? null,
    },
  ];
}

/** The link of a version that an operator chose can't be renewed, so no new export replaces it. */
function linkNotices(state: State, deployment: Deployment): Notice[] {
  const { place, name, url } = deployment;
  const { job, reason } = desiredVersion(state, deployment);
  if (job === null) return [];
  const trouble = state.linkTrouble[job.jobId];
  if (!trouble?.gone || !(reason === 'rolled-back' || reason === 'locked' || reason === 'pinned')) return [];
  const { message, status, at } = trouble.error;
  const key = `link ${place} ${job.jobId}`;
  return [
    {
      key,
      event: 'site-link',
      since: at,
      error: { message, status },
      heldVersion: job.version ?? job.jobId,
      deployment: name,
      url,
    },
  ];
}

function dueMail(run: SiteRun, notice: Notice, to: string): DueMail {
  const { key, ...mail } = notice;
  return {
    event: mail.event,
    to,
    lane: `${key} ${to}`,
    isWanted: () => noticesOf(run.state).some((other) => other.key === key),
    send(_to, summary) {
      const { site, state, settings } = run;
      const { domain } = settings;
      const { version } = siteVersion(state);
      const input = {
        ...mail,
        to,
        site,
        domain,
        workflowId: workflowInfo().workflowId,
        version,
        linkExpiresAt: firstToExpire(state)?.link.expiresAt ?? null,
        pageUrl: settings.pageUrl ?? null,
      };
      return sendSiteMail.executeWithOptions({ summary }, [input]);
    },
    onSent: (record) => recordMail(run.state, key, record),
  };
}
