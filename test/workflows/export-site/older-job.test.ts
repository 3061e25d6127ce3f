import { comparableTime, whyOlder } from '../../../workflows/export-site/older-job.ts';
import { newState } from '../../../workflows/export-site/state.ts';
import { jobOf } from './build-state.ts';

const at = (hour: number): string => new Date(Date.UTC(2026, 10, 21, hour)).toISOString();
const jobs = [jobOf(2, { jobId: 'newest', createdAt: at(12) }), jobOf(1, { jobId: 'first', createdAt: null })];
const first = { ...newState(0), newest: 'newest', jobs };
/** An old job was rejected, and the export was restarted with a new idempotency key. */
const restarted = { ...first, olderJobId: 'newest' };
const started = (jobId: string, createdAt: string | null, ageMs: number | null = null) => {
  return { jobId, version: null, createdAt, ageMs };
};

describe('the response to the start of an export', () => {
  it.each([
    ['a newer job', first, started('next', at(13))],
    ['a job without a time', first, started('next', null)],
    ['any job before the first export', newState(0), started('next', at(1))],
    ['the newest job again, which a service may return if nothing has changed', restarted, started('newest', at(12))],
    [
      'a job from the last minute, although a clock that was set back gives it an earlier time',
      restarted,
      started('next', at(11), 900),
    ],
  ])('is accepted: %s', (_, state, response) => {
    expect(whyOlder(state, response)).toBeNull();
  });

  it.each([
    ['an older job', first, started('lost', at(11)), 'newest of 2026-11-21T12:00:00.000Z was exported since'],
    ['the newest job', first, started('newest', at(12)), 'newest was exported before'],
    ['a job that was deployed, without a time', first, started('first', null), 'first was exported before'],
    ['an older job after a restart', restarted, started('lost', at(11), 3_600_000), 'was exported since'],
    ['a job that was deployed, after a restart', restarted, started('first', null), 'first was exported before'],
  ])('is rejected: %s', (_, state, response, why) => {
    expect(whyOlder(state, response)).toContain(why);
  });

  it('has a comparable time, except after the clock was set back', () => {
    expect(comparableTime(first, started('next', at(13)))).toBe(at(13));
    expect(comparableTime(restarted, started('next', at(11), 900))).toBeNull();
    expect(comparableTime(newState(0), started('next', null))).toBeNull();
  });
});
