import { createTurns } from '../../web/turns.ts';

describe('turns', () => {
  it('run one at a time for a key, each to its end, and beside those of other keys', async () => {
    const turns = createTurns(100);
    const running = { a: 0, b: 0 };
    let both = 0;
    const work = (key: 'a' | 'b') => async () => {
      running[key] += 1;
      expect(running[key]).toBe(1);
      if (running.a + running.b === 2) both += 1;
      await new Promise(setImmediate);
      running[key] -= 1;
      return key;
    };
    const all = (['a', 'b', 'a', 'b', 'a'] as const).map((key) => turns(key, work(key)));
    expect(await Promise.all(all)).toEqual(['a', 'b', 'a', 'b', 'a']);
    expect(both).toBeGreaterThan(0);
  });

  it('go on after work that fails', async () => {
    const turns = createTurns(100);
    const failing = turns('a', () => Promise.reject(new Error('no')));
    const next = turns('a', async () => 'yes');
    await expect(failing).rejects.toThrow('no');
    expect(await next).toBe('yes');
  });

  it('are taken in random order, and a flood rejects as many as come too many, not the newest', async () => {
    const turns = createTurns(100);
    let open = (): void => undefined;
    const first = turns('a', () => new Promise<void>((resolve) => (open = resolve)));
    const order: number[] = [];
    const waiting = Array.from({ length: 150 }, (_, index) => turns('a', async () => void order.push(index)));
    const outcomes = Promise.allSettled(waiting);
    open();
    await first;
    const rejected = (await outcomes).flatMap((each, index) => (each.status === 'rejected' ? [index] : []));
    expect([rejected.length, order.length]).toEqual([50, 100]);
    // By chance once in 2^50 runs.
    expect(order).not.toEqual([...order].sort((one, other) => one - other));
    expect(rejected).not.toEqual(Array.from({ length: 50 }, (_, index) => 100 + index));
  });
});
