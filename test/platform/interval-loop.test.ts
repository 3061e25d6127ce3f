import { jest } from '@jest/globals';
import { createIntervalLoop } from '../../platform/interval-loop.ts';

const intervalMs = 600_000;

const unexpected = (error: unknown): void => {
  throw error;
};

describe('an interval loop', () => {
  beforeEach(() => {
    jest.useFakeTimers();
  });
  afterEach(() => {
    jest.useRealTimers();
  });
  const pass = (ms: number) => jest.advanceTimersByTimeAsync(ms);

  it('runs the next turn at once if there is more to do, and otherwise after the interval', async () => {
    let turns = 0;
    const turn = async () => {
      turns += 1;
      return turns < 5;
    };
    const loop = createIntervalLoop({ intervalMs, turn, onFailure: unexpected });
    loop.start();
    loop.start();
    await pass(intervalMs - 1);
    expect(turns).toBe(5);
    await pass(1);
    expect(turns).toBe(6);
    loop.wake();
    await pass(0);
    expect(turns).toBe(7);
    await loop.stop();
    loop.wake();
    await pass(intervalMs);
    expect(turns).toBe(7);
  });

  it('skips the pause if it is woken during a turn', async () => {
    let turns = 0;
    const turn = async () => {
      turns += 1;
      if (turns < 3) loop.wake();
      return false;
    };
    const loop = createIntervalLoop({ intervalMs, turn, onFailure: unexpected });
    loop.start();
    await pass(0);
    expect(turns).toBe(3);
    await loop.stop();
  });

  it('reports the failure of a turn, and continues after the interval', async () => {
    const reported: unknown[] = [];
    const turn = async () => {
      throw new Error(`turn ${reported.length + 1}`);
    };
    const loop = createIntervalLoop({ intervalMs, turn, onFailure: (error) => reported.push(error) });
    loop.start();
    await pass(intervalMs - 1);
    expect(reported).toEqual([new Error('turn 1')]);
    await pass(1);
    expect(reported).toEqual([new Error('turn 1'), new Error('turn 2')]);
    await loop.stop();
  });

  it('aborts its signal when stopped, ends after the current turn, and does not start another', async () => {
    let turns = 0;
    let end = () => {};
    const turn = async () => {
      turns += 1;
      await new Promise<void>((resolve) => {
        end = resolve;
      });
      return true;
    };
    const loop = createIntervalLoop({ intervalMs, turn, onFailure: unexpected });
    loop.start();
    let stopped = false;
    const stopping = loop.stop().then(() => {
      stopped = true;
    });
    await pass(intervalMs);
    expect([loop.signal.aborted, stopped]).toEqual([true, false]);
    end();
    await stopping;
    await pass(intervalMs);
    expect(turns).toBe(1);
  });

  it('stops at once if it was never started', async () => {
    const loop = createIntervalLoop({ intervalMs, turn: async () => true, onFailure: unexpected });
    await loop.stop();
    expect(loop.signal.aborted).toBe(true);
  });
});
