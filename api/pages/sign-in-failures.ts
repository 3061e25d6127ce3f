import { LRUCache } from 'lru-cache';
import { FAILURES_COUNT_MS, type Failures } from '../../web/slow-guesses.ts';

/** The most networks remembered at once. */
const KEPT = 10_000;

/** Failed sign-ins by network, of this process. */
export function createSignInFailures(now: () => Date): Failures {
  const failures = new LRUCache<string, readonly number[]>({ max: KEPT });
  const recent = (network: string): readonly number[] => {
    const sinceMs = now().getTime() - FAILURES_COUNT_MS;
    return (failures.get(network) ?? []).filter((atMs) => atMs > sinceMs);
  };
  return {
    count: (network) => recent(network).length,
    add: (network) => void failures.set(network, [...recent(network), now().getTime()]),
    forget: (network) => void failures.delete(network),
  };
}
