import { rateLimitOf } from '../../forge/hosted/refusal.ts';

const NOW_MS = Date.parse('2026-11-21T10:00:00Z');
const seconds = (text: string): string => String(Date.parse(text) / 1000);
const of = (status: number, headers: Record<string, string>, message = '') =>
  rateLimitOf({ status, headers, message }, NOW_MS);

describe('a rate limit of a forge', () => {
  it("ends at the reset time, by the forge's clock", () => {
    const headers = { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': seconds('2026-11-21T10:20:00Z') };
    expect(of(403, headers)).toEqual({ limited: true, waitMs: 1_201_000 });
    expect(of(429, { ...headers, date: 'Sat, 21 Nov 2026 10:19:00 GMT' })).toEqual({ limited: true, waitMs: 61_000 });
    expect(of(403, { ...headers, date: 'Sat, 21 Nov 2026 10:30:00 GMT' })).toEqual({ limited: true, waitMs: 1_000 });
  });

  it('may have a Retry-After in seconds or as a date', () => {
    expect(of(403, { 'retry-after': '90' })).toEqual({ limited: true, waitMs: 90_000 });
    expect(of(429, { 'retry-after': 'Sat, 21 Nov 2026 10:00:30 GMT', date: 'Sat, 21 Nov 2026 10:00:00 GMT' })).toEqual({
      limited: true,
      waitMs: 30_000,
    });
    expect(of(503, { 'retry-after': '5' })).toEqual({ limited: false, waitMs: 5_000 });
  });

  it('lasts a minute if the response has no time', () => {
    const message = 'You have exceeded a secondary rate limit. Please wait a few minutes before you try again.';
    expect(of(403, { 'x-ratelimit-remaining': '4999' }, message)).toEqual({ limited: true, waitMs: 60_000 });
    expect(of(429, {})).toEqual({ limited: true, waitMs: 60_000 });
  });

  it('leads to a wait of at most an hour', () => {
    expect(of(429, { 'retry-after': '86400' })).toEqual({ limited: true, waitMs: 3_600_000 });
  });

  it('is distinguished from a rejection', () => {
    expect(of(403, { 'x-ratelimit-remaining': '4999', 'x-ratelimit-reset': '1' })).toEqual({
      limited: false,
      waitMs: null,
    });
    expect(of(404, { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '1' })).toEqual({
      limited: false,
      waitMs: null,
    });
    expect(of(502, { 'retry-after': 'soon' })).toEqual({ limited: false, waitMs: null });
  });
});
