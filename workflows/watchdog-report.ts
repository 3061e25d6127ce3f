import { isCancellation, proxyActivities, workflowInfo } from '@temporalio/workflow';
import type { Activities } from '../activities/create-activities.ts';
import type { WatchdogMailInput } from '../activities/reviewers/mail-input.ts';
import type { MailRecord } from '../contract/agent-state.ts';
import { mailRecord, resultOfFailedSend, uniqueAddresses } from './mails/mail-record.ts';
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
    uniqueAddresses(operators).map(async (to) => {
      const mail = { workflowId, event: EVENT, to, ...news } as const;
      const summary = `${EVENT} to ${to}`.slice(0, 200);
      const result = await sendWatchdogMail.executeWithOptions({ summary }, [mail]).catch((error: unknown) => {
        if (isCancellation(error)) throw error;
        return resultOfFailedSend(error);
      });
      return mailRecord(EVENT, to, result);
    }),
  );
}
