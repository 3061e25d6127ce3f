import { keepTrying } from '../../../../platform/activities/agent/keep-trying.ts';

const never = new AbortController().signal;

describe('keepTrying', () => {
  it('retries for about five minutes with exponential back-off', async () => {
    const waitsMs: number[] = [];
    const wait = async (ms: number) => void waitsMs.push(ms);
    const failing = () => Promise.reject(new Error('down'));
    await expect(keepTrying(never, failing, () => true, wait)).rejects.toThrow('down');
    expect(waitsMs.slice(0, 3)).toEqual([1_000, 2_000, 4_000]);
    const minutes = waitsMs.reduce((sum, each) => sum + each) / 60_000;
    expect([Math.round(minutes), Math.max(...waitsMs)]).toEqual([5, 60_000]);
  });

  it('returns the result of the first successful attempt', async () => {
    let failures = 2;
    const work = async () => {
      if (failures-- > 0) throw new Error('down');
      return 'done';
    };
    expect(
      await keepTrying(
        never,
        work,
        () => true,
        async () => undefined,
      ),
    ).toBe('done');
  });

  it('does not retry a permanent failure', async () => {
    const wait = () => Promise.reject(new Error('waited'));
    const failing = () => Promise.reject(new Error('refused'));
    await expect(keepTrying(never, failing, () => false, wait)).rejects.toThrow('refused');
  });

  it('stops when the run is aborted', async () => {
    const run = new AbortController();
    const failing = () => Promise.reject(new Error('down'));
    const trying = keepTrying(run.signal, failing);
    run.abort();
    await expect(trying).rejects.toMatchObject({ name: 'AbortError' });
  });
});
