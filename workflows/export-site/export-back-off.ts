import { backOffMs } from '../trouble/back-off.ts';
import { type Failure, isResumable } from '../trouble/failures.ts';
import type { SiteMemory } from './site-memory.ts';

/** Something has changed for the better (a publish, a person, a mended key): try again, but keep to a Retry-After. */
export function endBackOff(memory: SiteMemory): void {
  if (memory.backOff) memory.backOff = { ...memory.backOff, untilMs: memory.backOff.notBeforeMs, waiting: false };
}

/** Notes how long a failed export is left alone. */
export function beginBackOff(memory: SiteMemory, failure: Failure, nowMs: number): void {
  const failures = (memory.backOff?.failures ?? 0) + 1;
  const keyRefused = failure.type === 'KeyRefused';
  const kind = keyRefused ? 'key' : isResumable(failure) ? 'trouble' : 'export';
  const notBeforeMs = nowMs + (failure.retryAfterMs ?? 0);
  const untilMs = Math.max(notBeforeMs, nowMs + backOffMs(kind, failures));
  memory.backOff = { failures, keyRefused, notBeforeMs, untilMs, waiting: true };
}
