import { runUntil } from '../coroutines/run-until.ts';
import { waitAtMost } from '../coroutines/wait-at-most.ts';
import type { ChangeRun } from './change-run.ts';
import { follow } from './follow.ts';
import { notify, waitNoLonger } from './notify.ts';
import { isOver } from './phase.ts';
import { remind } from './remind.ts';

/** Asks for review and waits for the pull request's end, or for the time when nobody is expected to review it any more. */
export async function review(run: ChangeRun): Promise<void> {
  await runUntil(
    [() => notify(run), () => waitNoLonger(run), () => remind(run), () => follow(run), () => expire(run)],
    () => isOver(run.memory.phase),
  );
}

async function expire(run: ChangeRun): Promise<void> {
  const { memory } = run;
  for (;;) {
    const atMs = expiresAtMs(run) ?? 0;
    const waitMs = atMs - Date.now();
    if (waitMs <= 0) break;
    await waitAtMost(() => expiresAtMs(run) !== atMs, waitMs, 'the review expires');
  }
  if (!isOver(memory.phase)) memory.phase = 'expired';
}

/** Null while there is no pull request. */
export function expiresAtMs({ memory, settings }: ChangeRun): number | null {
  return memory.reviewSinceMs === null ? null : memory.reviewSinceMs + settings.expireAfterMs;
}
