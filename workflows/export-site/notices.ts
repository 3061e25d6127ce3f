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
import { overdueProposal } from './schedule.ts';
import type { Deployment, State } from './state.ts';
import { firstToExpire, type ObservedSite, siteVersion, troubleOf } from './status.ts';

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

type Notice = Pick<
  SiteMailInput,
  'event' | 'since' | 'error' | 'heldVersion' | 'deployment' | 'url' | 'previewUrl' | 'linkExpiresAt'
> & {
  /** What it is about: the same as long as there is nothing new to say. */
  key: string;
};

/** Mails that don't wait for a failure to last: each goes once to each operator, as soon as there is a reason. */
export async function mailNotices(run: SiteRun): Promise<void> {
  await sendDueMails(() => {
    const { notices } = run.state;
    return noticesOf(run, Date.now()).flatMap((notice) =>
      operatorsWithout(notices[notice.key] ?? [], notice.event, run.settings.operators).map((to) =>
        dueMail(run, notice, to),
      ),
    );
  });
}

/** Records a mail, and forgets those about what is over. */
function recordMail(run: SiteRun, key: string, record: MailRecord): void {
  const { state } = run;
  const standing = new Set([key, ...noticesOf(run, Date.now()).map((notice) => notice.key)]);
  const kept = Object.entries(state.notices).filter(([other]) => standing.has(other));
  state.notices = { ...Object.fromEntries(kept), [key]: [...(state.notices[key] ?? []), record] };
}

export function noticesOf(run: Omit<ObservedSite, 'isWriting'>, nowMs: number): Notice[] {
  const { state } = run;
  const { review } = state;
  const notices = state.deployments.flatMap((each) => [
    answerNotice(state, each),
    approvalNotice(state, each),
    linkNotice(state, each),
    proposalNotice(run, each, nowMs),
  ]);
  if (review !== null) {
    const { jobId, at, reasons, version, previewUrl } = review;
    const error = { message: reasons.join('\n'), status: null };
    const linkExpiresAt = firstToExpire(state)?.link.expiresAt ?? null;
    const about = { heldVersion: version ?? jobId, deployment: null, url: null, previewUrl, linkExpiresAt };
    notices.unshift({ key: `review ${jobId}`, event: 'site-review', since: at, error, ...about });
  }
  return notices.filter((notice) => notice !== null);
}

type About = { jobId: string; version: string | null; since: string; message?: string; url?: string | null };

/** A notice about a version of one deployment. */
function noticeOf(event: Notice['event'], { place, name, url, written }: Deployment, about: About): Notice {
  const { jobId, version, since, message } = about;
  return {
    key: `${event} ${place} ${jobId}`,
    event,
    since,
    error: message === undefined ? null : { message, status: null },
    heldVersion: version ?? jobId,
    deployment: name,
    url: about.url === undefined ? url : about.url,
    linkExpiresAt: written?.link?.expiresAt ?? null,
  };
}

/** The deployment doesn't serve a version, or nobody knows whether it does. */
function answerNotice(state: State, deployment: Deployment): Notice | null {
  const { name, answer, withheld } = deployment;
  const { job, reason } = desiredVersion(state, deployment);
  if (reason === 'withheld' && withheld !== null) {
    const { jobId, why, at } = withheld;
    const version = jobOf(state, jobId)?.version ?? null;
    const back = job === null ? 'nothing' : (job.version ?? job.jobId);
    const message = `${version ?? jobId} was not served by ${name}: ${why}\nRolled back to ${back}.`;
    const notice = noticeOf('site-not-served', deployment, { jobId, version, since: at, message });
    // Another mail than the one that it isn't served.
    return { ...notice, key: `withheld ${deployment.place} ${jobId}` };
  }
  if (job === null || answer === null || answer.verdict === 'served' || answer.jobId !== job.jobId) return null;
  const event = answer.verdict === 'other' ? 'site-not-served' : 'site-unknown';
  return noticeOf(event, deployment, { ...job, since: answer.at, message: answer.why ?? '' });
}

/** A version waits for a person. The mail names a deployment of an earlier wave that serves it already. */
function approvalNotice(state: State, deployment: Deployment): Notice | null {
  const { reason, waitsFor } = desiredVersion(state, deployment);
  if (reason !== 'waits-for-approval' || waitsFor === null) return null;
  const { jobId, exportedAt, createdAt } = waitsFor;
  const shown = state.deployments.find(
    (each) => each.wave < deployment.wave && follows(each) && each.lastGood === jobId,
  );
  const since = exportedAt ?? createdAt ?? new Date(state.epochMs).toISOString();
  const notice = noticeOf('site-approval', deployment, { ...waitsFor, since, url: shown?.url ?? null });
  return { ...notice, previewUrl: waitsFor.previewUrl };
}

/** The link of a version that an operator chose can't be renewed, so no new export replaces it. */
function linkNotice(state: State, deployment: Deployment): Notice | null {
  const { job, reason } = desiredVersion(state, deployment);
  const trouble = job && state.linkTrouble[job.jobId];
  if (job === null || !trouble?.gone || !(reason === 'rolled-back' || reason === 'locked' || reason === 'pinned'))
    return null;
  const { message, at } = trouble.error;
  return noticeOf('site-link', deployment, { ...job, since: at, message });
}

/** The deployment's link is due, but the pull request with a fresh one, or with another version, isn't merged. */
function proposalNotice(run: Parameters<typeof noticesOf>[0], deployment: Deployment, nowMs: number): Notice | null {
  const { place, proposed, written } = deployment;
  const overdue = overdueProposal(deployment, run);
  if (proposed === null || written === null || overdue === null || overdue.tellAtMs > nowMs) return null;
  const since = new Date(overdue.dueAtMs).toISOString();
  const notice = noticeOf('site-proposal', deployment, { ...written, since, url: proposed.url });
  // Each link has its own.
  return { ...notice, key: `proposal ${place} ${written.link?.obtainedAtMs}` };
}

function dueMail(run: SiteRun, notice: Notice, to: string): DueMail {
  const { key, ...mail } = notice;
  return {
    event: mail.event,
    to,
    lane: `${key} ${to}`,
    isWanted: () => noticesOf(run, Date.now()).some((other) => other.key === key),
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
        pageUrl: settings.pageUrl ?? null,
      };
      return sendSiteMail.executeWithOptions({ summary }, [input]);
    },
    onSent: (record) => recordMail(run, key, record),
  };
}
