import { backOffMs } from '../trouble/back-off.ts';
import { type Failure, isResumable } from '../trouble/failures.ts';
import type { SiteMemory } from './site-memory.ts';

/** Something has changed for the better (a publish, a person, a mended key): try again, but keep to a Retry-After. */
export function endBackOff(memory: SiteMemory): void {
  if (memory.backOff) memory.backOff = { ...memory.backOff, untilMs: memory.backOff.notBeforeMs, waiting: false };
}

/** How many times in a row an export has failed, with one more failure. */
export function failuresWith(memory: SiteMemory): number {
  return (memory.backOff?.failures ?? 0) + 1;
}

/**
 * Notes how long a failed export is left alone.
 * @param restMs how long the service is to be left alone (trouble/rest.ts)
 */
export function beginBackOff(memory: SiteMemory, failure: Failure, nowMs: number, restMs: number): void {
  const failures = failuresWith(memory);
  const keyRefused = failure.type === 'KeyRefused';
  // A new key gets a new job, so the first try with one comes soon. A second old answer is a fault of the service.
  const soon = isResumable(failure) || (failure.type === 'OlderJob' && failures === 1);
  const kind = keyRefused ? 'key' : soon ? 'trouble' : 'export';
  const notBeforeMs = nowMs + restMs;
  const untilMs = Math.max(notBeforeMs, nowMs + backOffMs(kind, failures));
  memory.backOff = { failures, keyRefused, notBeforeMs, untilMs, waiting: true };
}
