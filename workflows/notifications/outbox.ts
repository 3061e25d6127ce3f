import { condition, isCancellation, log, proxyActivities } from '@temporalio/workflow';
import { z } from 'zod';
import type { Activities } from '../../activities/create-activities.ts';
import { type NotificationEvent, type NotificationType, notificationEvent } from '../../contract/notification.ts';
import { readFailure } from '../failures/read-failure.ts';
import { quickActivity } from '../retry/activity-timeouts.ts';

/** Far more than a run has at a time. */
const MAX_EVENTS = 20;

/** Events whose deliveries were not started yet, oldest first. */
export const outbox = z.array(notificationEvent);

/** A workflow that reports events. */
type OutboxRun = {
  site: string;
  state: { outbox: NotificationEvent[] };
  settings: { notify?: NotificationType[] | undefined } | null;
  /** Deliveries are being started. */
  notifying: boolean;
};

/** Starts the deliveries of an event, each of which is a workflow of its own: nothing here waits for a target. */
const { startNotifications } = proxyActivities<Activities>({
  ...quickActivity,
  startToCloseTimeout: '20s',
  scheduleToCloseTimeout: '24h',
});

export function wants({ settings }: Pick<OutboxRun, 'settings'>, type: NotificationType): boolean {
  return settings?.notify?.includes(type) === true;
}

/** Keeps an event until its deliveries are started, unless no target wants it. The next run continues with it. */
export function enqueueEvent(
  { state, settings }: Pick<OutboxRun, 'state' | 'settings'>,
  event: NotificationEvent,
): void {
  if (wants({ settings }, event.type)) state.outbox = [...state.outbox, event].slice(-MAX_EVENTS);
}

/** Unique per site, also after a reset of the workflow. */
export function eventId(type: NotificationType, atMs: number): string {
  return `${type}-${atMs}`;
}

/** Starts the deliveries of each event for as long as the run lasts. */
export async function watchOutbox(run: OutboxRun): Promise<void> {
  for (;;) {
    await condition(() => run.state.outbox.length > 0);
    await emptyOutbox(run);
  }
}

/** Starts the deliveries of all events. Repeating it is harmless: each is started once. */
export async function emptyOutbox(run: OutboxRun): Promise<void> {
  const { site, state } = run;
  if (state.outbox.length === 0) return;
  if (run.notifying) await condition(() => !run.notifying);
  while (state.outbox.length > 0) {
    const events = state.outbox;
    run.notifying = true;
    try {
      const summary = `notify: ${events.map(({ type }) => type).join(', ')}`.slice(0, 200);
      await startNotifications.executeWithOptions({ summary }, [{ site, events }]);
    } catch (error) {
      if (isCancellation(error)) throw error;
      log.warn('notifications could not be started', { events: events.length, reason: readFailure(error).message });
    } finally {
      run.notifying = false;
    }
    const done = new Set(events.map(({ id }) => id));
    state.outbox = state.outbox.filter(({ id }) => !done.has(id));
  }
}
