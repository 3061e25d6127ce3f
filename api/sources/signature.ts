import { createHmac, hash, timingSafeEqual } from 'node:crypto';
import type { RejectReason } from './source.ts';

/**
 * What the sources without a usable verifier of their vendor's share. (`standardwebhooks` reads the clock itself and
 * has a fixed window, so it signs in the tests only; GitHub's own verifier is used in github.ts.)
 */

/** `sha1` is what Storyblok signs with; as an HMAC it is unbroken. */
export type HmacAlgorithm = 'sha1' | 'sha256' | 'sha512';
export type HmacEncoding = 'hex' | 'base64' | 'base64url';

/** The HMAC of the parts one after another. */
export function hmacOf(
  algorithm: HmacAlgorithm,
  key: string | Buffer,
  parts: readonly (string | Buffer)[],
  encoding: HmacEncoding,
): string {
  const hmac = createHmac(algorithm, key);
  for (const part of parts) hmac.update(part);
  return hmac.digest(encoding);
}

/** Compares two texts in a time that depends on neither their content nor how their lengths differ. */
export function equalInConstantTime(left: string, right: string): boolean {
  return timingSafeEqual(digest(left), digest(right));
}

/** Whether any expected text equals the given one; every one is compared, so the time doesn't tell which. */
export function anyEqualInConstantTime(expected: readonly string[], given: string): boolean {
  return expected.map((each) => equalInConstantTime(each, given)).includes(true);
}

function digest(text: string): Buffer {
  return hash('sha256', text, 'buffer');
}

export type TimeWindow = { pastMs: number; futureMs: number };

/** The configured window over the source's own (by default 5 min into the past and 60 s into the future). */
export function timeWindow(
  configured: { past?: number | undefined; future?: number | undefined } | undefined,
  vendorPastMs = 5 * 60_000,
): TimeWindow {
  return { pastMs: configured?.past ?? vendorPastMs, futureMs: configured?.future ?? 60_000 };
}

/** Whether a signed time lies outside the window, and on which side. */
export function outsideWindow(signedAtMs: number, now: Date, window: TimeWindow): RejectReason | undefined {
  const ageMs = now.getTime() - signedAtMs;
  if (ageMs > window.pastMs) return 'stale';
  return -ageMs > window.futureMs ? 'future' : undefined;
}

/** Reads a decimal timestamp header to milliseconds; undefined for anything but digits. */
export function readTimestampMs(text: string, unit: 's' | 'ms'): number | undefined {
  if (!/^\d{1,15}$/.test(text)) return undefined;
  return Number(text) * (unit === 's' ? 1000 : 1);
}
