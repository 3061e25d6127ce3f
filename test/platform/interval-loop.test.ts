import { setTimeout as sleep } from 'node:timers/promises';
import { createIntervalLoop } from '../../platform/interval-loop.ts';

const LONG_MS = 600_000;

/** Longer than any turn below takes, and far shorter than the long pause. */
async function until(isSo: () => boolean): Promise<void> {
  const deadline = Date.now() + 20_000;
  while (!isSo() && Date.now() < deadline) await sleep(5);
  expect(isSo()).toBe(true);
}

const unexpected = (error: unknown): void => {
  throw error;
};

describe('a loop with pauses', () => {
  it('takes the next turn at once where there is more, and after the pause where there is not', async () => {
    let turns = 0;
    const turn = async (): Promise<boolean> => {
      turns += 1;
      return turns < 5;
    };
    const loop = createIntervalLoop({ intervalMs: LONG_MS, turn, onFailure: unexpected });
    loop.start();
    loop.start();
    await until(() => turns === 5);
    await sleep(50);
    expect(turns).toBe(5);
    loop.wake();
    await until(() => turns === 6);
    await loop.stop();
    expect(turns).toBe(6);
  });

  it('skips the pause where it is woken in the middle of a turn', async () => {
    let turns = 0;
    const loop = createIntervalLoop({
      intervalMs: LONG_MS,
      async turn() {
        turns += 1;
        if (turns < 3) loop.wake();
        return false;
      },
      onFailure: unexpected,
    });
    loop.start();
    await until(() => turns === 3);
    await loop.stop();
  });

  it('tells what a turn fails with, and goes on after the pause', async () => {
    const told: unknown[] = [];
    let turns = 0;
    const turn = async (): Promise<boolean> => {
      turns += 1;
      throw new Error(`turn ${turns}`);
    };
    const loop = createIntervalLoop({ intervalMs: 1, turn, onFailure: (error) => told.push(error) });
    loop.start();
    await until(() => told.length >= 2);
    await loop.stop();
    expect(told.slice(0, 2)).toEqual([new Error('turn 1'), new Error('turn 2')]);
  });

  it('ends after the turn under way, which hears of it, and never begins again', async () => {
    let turns = 0;
    const heard: boolean[] = [];
    const loop = createIntervalLoop({
      intervalMs: 1,
      async turn() {
        turns += 1;
        await new Promise((resolve) => loop.signal.addEventListener('abort', resolve, { once: true }));
        await sleep(20);
        heard.push(loop.signal.aborted);
        return true;
      },
      onFailure: unexpected,
    });
    loop.start();
    await until(() => turns === 1);
    await loop.stop();
    expect([turns, heard]).toEqual([1, [true]]);
    loop.wake();
    await sleep(20);
    expect(turns).toBe(1);
  });

  it('stops at once where it was never started', async () => {
    const loop = createIntervalLoop({ intervalMs: LONG_MS, turn: async () => true, onFailure: unexpected });
    await loop.stop();
    expect(loop.signal.aborted).toBe(true);
  });
});
