import { condition } from '@temporalio/workflow';

/** The longest duration that galley.yaml accepts. */
const LONGEST_MS = 3650 * 86_400_000;

/**
 * Resolves when `holds` does, or after `waitMs` at the latest. Without a finite wait there is no timer: Temporal fails the
 * workflow task of a timer that has no end.
 * @param summary what the timer is for, as the Temporal UI shows it
 */
export async function waitAtMost(holds: () => boolean, waitMs: number, summary: string): Promise<void> {
  if (waitMs === Number.POSITIVE_INFINITY) await condition(holds);
  else await condition(holds, clampedMs(waitMs), { summary });
}

function clampedMs(waitMs: number): number {
  if (Number.isNaN(waitMs)) return 1;
  return Math.min(Math.max(Math.ceil(waitMs), 1), LONGEST_MS);
}
