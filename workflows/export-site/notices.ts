import { condition, proxyActivities, workflowInfo } from '@temporalio/workflow';
import type { Activities } from '../../activities/create-activities.ts';
import type { SiteMailInput } from '../../activities/mails/mail-input.ts';
import type { MailRecord } from '../../contract/agent-state.ts';
import { uniqueAddresses } from '../mails/mail-record.ts';
import { type IncidentSource, mailEach, withoutMail } from '../mails/notify-operators.ts';
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
  const unsent = (): { notice: Notice; to: string[] }[] => {
    const operators = uniqueAddresses(run.settings.operators);
    return noticesOf(run)
      .map((notice) => ({ notice, to: withoutMail(notice.mails, notice.mail.event, operators) }))
      .filter(({ to }) => to.length > 0);
  };
  for (;;) {
    await condition(() => unsent().length > 0);
    for (const { notice, to } of unsent()) await send(run, notice, to);
  }
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

async function send(run: SiteRun, { mail, mails }: Notice, addresses: readonly string[]): Promise<void> {
  const { site, state, settings } = run;
  const input = {
    ...mail,
    site,
    domain: settings.domain,
    workflowId: workflowInfo().workflowId,
    version: state.live?.version ?? null,
    linkExpiresAt: null,
    pageUrl: settings.pageUrl ?? null,
  };
  await mailEach(mails, mail.event, addresses, (to, summary) =>
    sendSiteMail.executeWithOptions({ summary }, [{ ...input, to }]),
  );
}
