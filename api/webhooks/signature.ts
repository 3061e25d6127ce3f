import { createHmac } from 'node:crypto';
import { equalInConstantTime } from '../../base/equal-in-constant-time.ts';
import { rejected, type Verification } from './source.ts';

/**
 * These functions are for sources whose vendor offers no usable verifier. (`standardwebhooks` reads the clock itself
 * and has a fixed window, and GitHub's verifier needs the whole body as a text, so only what Galley sends and the tests use
 * them.)
 */

/** Storyblok signs with `sha1`, which is still secure as an HMAC. */
type HmacAlgorithm = 'sha1' | 'sha256' | 'sha512';
type HmacEncoding = 'hex' | 'base64' | 'base64url';

/** The HMAC of the concatenated parts. */
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

/** Whether any expected text equals the given one. Compares them all, so that the time doesn't reveal which. */
export function anyEqualInConstantTime(expected: readonly string[], given: string): boolean {
  return expected.map((each) => equalInConstantTime(each, given)).includes(true);
}

type TimeWindow = { pastMs: number; futureMs: number };

/** The configured window; by default the vendor's, otherwise 5 min into the past and 60 s into the future. */
export function timeWindow(
  configured: { past?: number | undefined; future?: number | undefined } | undefined,
  { pastMs = 5 * 60_000, futureMs = 60_000 }: Partial<TimeWindow> = {},
): TimeWindow {
  return { pastMs: configured?.past ?? pastMs, futureMs: configured?.future ?? futureMs };
}

/** Accepts a delivery with a right signature if its signed time is within the window. */
export function acceptWithin(window: TimeWindow, signedAtMs: number, now: Date, vendorId: string | null): Verification {
  const ageMs = now.getTime() - signedAtMs;
  if (ageMs > window.pastMs) return rejected('stale');
  return -ageMs > window.futureMs ? rejected('future') : { ok: true, vendorId };
}

/** A timestamp header in milliseconds; undefined if it has anything but digits. */
export function readTimestampMs(text: string, unit: 's' | 'ms'): number | undefined {
  if (!/^\d{1,15}$/.test(text)) return undefined;
  return Number(text) * (unit === 's' ? 1000 : 1);
}
