import { LRUCache } from 'lru-cache';

const WINDOW_MS = 5 * 60 * 1000;
const MAX_FAILURES = 10;
/** The most addresses remembered at once. */
const KEPT = 10_000;

type SignInLimit = {
  /** Seconds until this address may try again; 0 if it may now. */
  waitSeconds: (address: string) => number;
  failed: (address: string) => void;
  succeeded: (address: string) => void;
};

/** Limits failed sign-ins of an address to 10 in 5 minutes. Behind a proxy, all share the proxy's address. */
export function createSignInLimit(now: () => Date = () => new Date()): SignInLimit {
  const failures = new LRUCache<string, readonly number[]>({ max: KEPT });
  const recent = (address: string): readonly number[] => {
    const sinceMs = now().getTime() - WINDOW_MS;
    return (failures.get(address) ?? []).filter((atMs) => atMs > sinceMs);
  };
  return {
    waitSeconds(address) {
      const atMs = recent(address);
      const [oldestMs = 0] = atMs;
      return atMs.length < MAX_FAILURES ? 0 : Math.ceil((oldestMs + WINDOW_MS - now().getTime()) / 1000);
    },
    failed: (address) => void failures.set(address, [...recent(address), now().getTime()]),
    succeeded: (address) => void failures.delete(address),
  };
}
