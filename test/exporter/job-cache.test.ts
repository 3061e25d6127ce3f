import { jest } from '@jest/globals';
import { createJobMemory } from '../../exporter/job-cache.ts';

describe('what a process remembers of its jobs', () => {
  it('is made once for each job and place', () => {
    const memory = createJobMemory();
    const [first, second] = [memory.place<object>(), memory.place<object>()];
    const made = first('one', () => ({}));
    expect(first('one', () => ({}))).toBe(made);
    expect(first('two', () => ({}))).not.toBe(made);
    expect(second('one', () => ({}))).not.toBe(made);
  });

  it('goes with the job in all places', () => {
    const memory = createJobMemory();
    const places = [memory.place<number>(), memory.place<number>()];
    expect(places.map((place) => place('one', () => 1))).toEqual([1, 1]);
    memory.forget('one');
    expect(places.map((place) => place('one', () => 2))).toEqual([2, 2]);
  });

  it('goes where others were asked for since', () => {
    const memory = createJobMemory({ maxJobs: 2 });
    const place = memory.place<number>();
    for (const jobId of ['one', 'two', 'one', 'three']) place(jobId, () => 1);
    expect(['one', 'three', 'two'].map((jobId) => place(jobId, () => 2))).toEqual([1, 1, 2]);
  });

  it('goes once nobody asked for it in a while', () => {
    jest.useFakeTimers();
    const place = createJobMemory({ idleMs: 1_000 }).place<number>();
    place('one', () => 1);
    jest.advanceTimersByTime(999);
    expect(place('one', () => 2)).toBe(1);
    jest.advanceTimersByTime(1_000);
    expect(place('one', () => 3)).toBe(3);
    jest.useRealTimers();
  });
});
