import { proxyActivities, workflowInfo } from '@temporalio/workflow';
import type { Activities } from '../../activities/create-activities.ts';
import type { SiteMailInput } from '../../activities/mails/mail-input.ts';
import type { MailRecord } from '../../contract/agent-state.ts';
import { operatorsWithout } from '../mails/mail-record.ts';
import type { IncidentSource } from '../mails/notify-operators.ts';
import { type DueMail, sendDueMails } from '../mails/send-due-mails.ts';
import { wants } from '../notifications/outbox.ts';
import { mailTimeouts } from '../retry/activity-timeouts.ts';
import { notifyFailed, notifyRecovered } from './notifications.ts';
import type { SiteRun } from './run.ts';
import { firstToExpire } from './targets.ts';
import { lastErrorOf } from './visibility.ts';

const { sendSiteMail } = proxyActivities<Activities>(mailTimeouts);

/** A failure that lasts: one mail when it does, and one when it is over. */
export function incidentSource(run: SiteRun): IncidentSource<SiteMailInput['event']> {
  const { state, site } = run;
  return {
    state,
    isFailing: () => lastErrorOf(state) !== null,
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
        error: lastErrorOf(state),
        version: state.live?.version ?? null,
        linkExpiresAt: firstToExpire(state)?.expiresAt ?? null,
      };
      return (to, summary) => sendSiteMail.executeWithOptions({ summary }, [{ ...mail, to }]);
    },
  };
}

type Notice = {
  mails: MailRecord[];
  mail: Pick<SiteMailInput, 'event' | 'since' | 'error' | 'heldVersion'>;
};

/** Mails that don't wait for a failure to last: each goes once to each operator, as soon as there is a reason. */
export async function mailNotices(run: SiteRun): Promise<void> {
  await sendDueMails(() =>
    noticesOf(run).flatMap((notice) =>
      operatorsWithout(notice.mails, notice.mail.event, run.settings.operators).map((to) => dueMail(run, notice, to)),
    ),
  );
}

function noticesOf({ state: { review, notServed } }: SiteRun): Notice[] {
  const notices: Notice[] = [];
  if (review !== null) {
    const { at, reasons, version, jobId, mails } = review;
    const error = { message: reasons.join('\n'), status: null };
    notices.push({ mails, mail: { event: 'site-review', since: at, error, heldVersion: version ?? jobId } });
  }
  // After the rollback, if there is one, so that the mail can name its version.
  if (notServed?.tried) {
    const { at, message, rolledBackTo, version, jobId, mails } = notServed;
    const rolledBack = rolledBackTo === null ? '' : `\nRolled back to ${rolledBackTo}.`;
    const error = { message: `${message}${rolledBack}`, status: null };
    notices.push({ mails, mail: { event: 'site-not-served', since: at, error, heldVersion: version ?? jobId } });
  }
  return notices;
}

function dueMail(run: SiteRun, { mail }: Notice, to: string): DueMail {
  const { event, since } = mail;
  const current = (): Notice | undefined =>
    noticesOf(run).find((other) => other.mail.event === event && other.mail.since === since);
  return {
    event,
    to,
    lane: `${event} ${since} ${to}`,
    isWanted: () => current() !== undefined,
    send(_to, summary) {
      const { site, state, settings } = run;
      const input = {
        ...mail,
        to,
        site,
        domain: settings.domain,
        workflowId: workflowInfo().workflowId,
        version: state.live?.version ?? null,
        linkExpiresAt: null,
        pageUrl: settings.pageUrl ?? null,
      };
      return sendSiteMail.executeWithOptions({ summary }, [input]);
    },
    onSent: (record) => current()?.mails.push(record),
  };
}
