import { comparableTime, whyOlder } from '../../../workflows/export-site/older-job.ts';
import { newState } from '../../../workflows/export-site/state.ts';

const at = (hour: number): string => new Date(Date.UTC(2026, 10, 21, hour)).toISOString();
const newest = { jobId: 'newest', version: 'v2', exportedAt: at(12), createdAt: at(12) };
const jobs = [
  { jobId: 'newest', version: 'v2', exportedAt: null },
  { jobId: 'first', version: 'v1', exportedAt: null },
];
const first = { ...newState(0), newest, jobs };
/** An old job was refused, and the export began once more with a new key. */
const again = { ...first, olderJobId: 'newest' };
const started = (jobId: string, createdAt: string | null, ageMs: number | null = null) => {
  return { jobId, version: null, createdAt, ageMs };
};

describe('the response to the start of an export', () => {
  it.each([
    ['a job made later', first, started('next', at(13))],
    ['a job without a time', first, started('next', null)],
    ['any job before the first export', newState(0), started('next', at(1))],
    ['the newest job again, which a service gives while nothing has changed', again, started('newest', at(12))],
    ['a job of this minute, though a clock that was set back says otherwise', again, started('next', at(11), 900)],
    ['a job of a release without times', first, { jobId: 'first', version: null }],
  ])('is accepted: %s', (_, state, answer) => {
    expect(whyOlder(state, answer)).toBeNull();
  });

  it.each([
    ['a job made earlier', first, started('lost', at(11)), 'newest of 2026-11-21T12:00:00.000Z was exported since'],
    ['the newest job', first, started('newest', at(12)), 'newest was exported before'],
    ['a job that was deployed, without a time', first, started('first', null), 'first was exported before'],
    ['a job made earlier, again', again, started('lost', at(11), 3_600_000), 'was exported since'],
    ['a job that was deployed, again', again, started('first', null), 'first was exported before'],
  ])('is rejected: %s', (_, state, answer, why) => {
    expect(whyOlder(state, answer)).toContain(why);
  });

  it('has a comparable time, but not after the clock was set back', () => {
    expect(comparableTime(first, started('next', at(13)))).toBe(at(13));
    expect(comparableTime(again, started('next', at(11), 900))).toBeNull();
    expect(comparableTime(newState(0), { jobId: 'next', version: null })).toBeNull();
  });
});
