import { proxyActivities, workflowInfo } from '@temporalio/workflow';
import type { NotificationActivities } from '../activities/create-activities.ts';
import type { NotificationInput } from '../activities/notifications/send-notification.ts';
import { notificationTaskQueue } from '../contract/names.ts';

/** Longer outages of a receiver are not bridged: the event is old by then. */
const DELIVER_WITHIN = '24h';

/**
 * Delivers one event to one target. Fails with the reason if the target rejects it, is removed from the configuration or
 * doesn't accept it within a day.
 */
export async function notification(input: NotificationInput): Promise<{ status: number }> {
  const { event, target } = input;
  const { sendNotification } = proxyActivities<NotificationActivities>({
    taskQueue: notificationTaskQueue(workflowInfo().taskQueue),
    // The attempt itself gives up after 10 s, so only a killed worker takes longer.
    startToCloseTimeout: '15s',
    scheduleToCloseTimeout: DELIVER_WITHIN,
    retry: { initialInterval: '2s', backoffCoefficient: 2, maximumInterval: '15m' },
  });
  const summary = `${event.type} to ${target.host}`.slice(0, 200);
  return await sendNotification.executeWithOptions({ summary }, [input]);
}
