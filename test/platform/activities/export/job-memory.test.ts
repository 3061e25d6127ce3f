import { createJobMemory } from '../../../../platform/activities/export/job-memory.ts';
import { waitFor } from '../../../helpers/system/wait-for.ts';

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

  it('goes once nobody asked for it in a while', async () => {
    const place = createJobMemory({ idleMs: 1 }).place<number>();
    place('one', () => 1);
    await waitFor(() => place('one', () => 2) === 2, { describe: 'forgotten' });
  });
});
