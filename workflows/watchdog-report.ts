import { proxyActivities, workflowInfo } from '@temporalio/workflow';
import type { Activities } from '../activities/create-activities.ts';
import type { WatchdogMailInput } from '../activities/mails/mail-input.ts';
import type { MailRecord } from '../contract/agent-state.ts';
import { operatorsWithout, sendMail } from './mails/mail-record.ts';
import { mailTimeouts } from './retry/activity-timeouts.ts';

const { sendWatchdogMail } = proxyActivities<Activities>(mailTimeouts);

/** What a check found, and who is notified. */
export type WatchdogReport = Pick<WatchdogMailInput, 'opened' | 'solved' | 'omitted'> & { operators: string[] };

const EVENT = 'watchdog';

/** Mails one check's news to each operator, at most once. Returns the outcome of each mail. */
export async function watchdogReport(report: WatchdogReport): Promise<MailRecord[]> {
  const { operators, ...news } = report;
  const { workflowId } = workflowInfo();
  return await Promise.all(
    operatorsWithout([], EVENT, operators).map((operator) =>
      sendMail(EVENT, operator, (to, summary) =>
        sendWatchdogMail.executeWithOptions({ summary }, [{ workflowId, event: EVENT, to, ...news }]),
      ),
    ),
  );
}
