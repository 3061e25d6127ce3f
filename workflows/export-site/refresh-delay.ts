import { hash64 } from '../deliveries/hash64.ts';

/** Sites refresh up to this share of the margin earlier or later than the plain margin, so that they don't all come at once. */
const JITTER_SHARE = 0.1;

export type RefreshTimes = {
  /** From the moment the link was obtained to its end; not above zero where it came back expired. */
  lifetimeMs: number;
  /** Share of the lifetime, before its end, at which the link is renewed. */
  marginShare: number;
  /** What the last refresh took, from asking to the written file. */
  lastTookMs: number;
  minIntervalMs: number;
  site: string;
};

/**
 * How long after a link was obtained it is refreshed, in milliseconds. The margin is a share of the lifetime and at
 * least what the last refresh took. Never sooner than `minIntervalMs`, whatever the service answers: a link that comes
 * back expired must not make a hot loop.
 */
export function refreshDelayMs({ lifetimeMs, marginShare, lastTookMs, minIntervalMs, site }: RefreshTimes): number {
  const shareMs = Math.max(lifetimeMs, 0) * marginShare * (1 + JITTER_SHARE * jitterOf(site));
  const marginMs = Math.max(shareMs, lastTookMs);
  return Math.max(Math.floor(lifetimeMs - marginMs), minIntervalMs);
}

/** A number from -1 to 1 that is always the same for a site and spread evenly over sites. */
export function jitterOf(site: string): number {
  const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  const value = [...hash64(site).slice(0, 3)].reduce((sum, letter) => sum * 64 + letters.indexOf(letter), 0);
  return (value / (64 ** 3 - 1)) * 2 - 1;
}
