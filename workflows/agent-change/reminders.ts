/** When reminders are due: pure decisions over times in milliseconds. */

export type ReminderSettings = {
  /** When the review was asked for. */
  sinceMs: number;
  /** The configured times after it, ascending. */
  remindAfterMs: readonly number[];
  /** Up to which of these times reminders are done with. */
  doneUpToMs: number;
};

export type Reminder = { atMs: number /** Which of the configured times it stands for. */; afterMs: number };

/**
 * The next reminder; null where none is left. Several that became due while nothing could be sent are one: two mails of
 * the same minute remind nobody better.
 */
export function nextReminder({ sinceMs, remindAfterMs, doneUpToMs }: ReminderSettings, nowMs: number): Reminder | null {
  const left = remindAfterMs.filter((afterMs) => afterMs > doneUpToMs);
  const afterMs = left.findLast((candidate) => sinceMs + candidate <= nowMs) ?? left[0];
  return afterMs === undefined ? null : { atMs: sinceMs + afterMs, afterMs };
}
