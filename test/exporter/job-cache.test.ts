import { jest } from '@jest/globals';
import { createJobCache } from '../../exporter/job-cache.ts';

describe('the job cache', () => {
  it('creates a value once per job and place', () => {
    const jobCache = createJobCache();
    const [first, second] = [jobCache.place<object>(), jobCache.place<object>()];
    const made = first('one', () => ({}));
    expect(first('one', () => ({}))).toBe(made);
    expect(first('two', () => ({}))).not.toBe(made);
    expect(second('one', () => ({}))).not.toBe(made);
  });

  it('forgets a job in all places', () => {
    const jobCache = createJobCache();
    const places = [jobCache.place<number>(), jobCache.place<number>()];
    expect(places.map((place) => place('one', () => 1))).toEqual([1, 1]);
    jobCache.forget('one');
    expect(places.map((place) => place('one', () => 2))).toEqual([2, 2]);
  });

  it('evicts the least recently used job', () => {
    const jobCache = createJobCache({ maxJobs: 2 });
    const place = jobCache.place<number>();
    for (const jobId of ['one', 'two', 'one', 'three']) place(jobId, () => 1);
    expect(['one', 'three', 'two'].map((jobId) => place(jobId, () => 2))).toEqual([1, 1, 2]);
  });

  it('evicts a job that has been idle for a while', () => {
    jest.useFakeTimers();
    const place = createJobCache({ idleMs: 1_000 }).place<number>();
    place('one', () => 1);
    jest.advanceTimersByTime(999);
    expect(place('one', () => 2)).toBe(1);
    jest.advanceTimersByTime(1_001);
    expect(place('one', () => 3)).toBe(3);
    jest.useRealTimers();
  });
});
