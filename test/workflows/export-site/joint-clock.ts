import { setTimeout as later } from 'node:timers/promises';
import { Context } from '@temporalio/activity';
import type { TestWorkflowEnvironment } from '@temporalio/testing';

/**
 * The clock of a time-skipping server for several players: time passes only while all of them wait, until the first one has
 * waited long enough. So each has its own times, whatever the others do.
 */
export type JointClock = {
  /** Plays with the clock until `play` has ended. */
  join<T>(play: () => Promise<T>): Promise<T>;
  nowMs(): Promise<number>;
  /** All work that is due has ended then, unless the machine is slow. */
  sleep(ms: number): Promise<void>;
  /** Runs an attempt of an activity. */
  work(call: () => unknown): Promise<unknown>;
  /** When the present attempt of an activity began. The server gives it the time at which the one before failed. */
  workMs(): number;
};

/** Players that wait for about the same time wait together: each skip of the server costs a while. */
const GRID_MS = 3_000;

/**
 * The server keeps a lock for an activity that is canceled after it is due and before it is started
 * (`processRequestCancelActivityTask` in its TestWorkflowMutableStateImpl), and then skips no time. After so many looks at
 * which nothing is at work and no time is skipped, one lock is released.
 */
const IDLE_LOOKS = 60;
const LOOK_EVERY_MS = 50;

export function createJointClock(env: TestWorkflowEnvironment): JointClock {
  let players = 0;
  let waiting: { untilMs: number; wake: (error?: unknown) => void }[] = [];
  let attempts = 0;
  let running = 0;
  const begunMs = new WeakMap<Context, number>();

  async function passIfAllWait(): Promise<void> {
    if (waiting.length < players || waiting.length === 0) return;
    const firstMs = Math.min(...waiting.map(({ untilMs }) => untilMs));
    const leftMs = firstMs - (await env.currentTimeMs());
    if (leftMs > 0) await skip(leftMs);
    const due = waiting.filter(({ untilMs }) => untilMs <= firstMs);
    waiting = waiting.filter(({ untilMs }) => untilMs > firstMs);
    for (const { wake } of due) wake();
  }

  async function skip(ms: number): Promise<void> {
    const skipped = env.sleep(ms).then(() => true);
    let idle = 0;
    let seen = { attempts, realMs: 0, nowMs: 0 };
    while (!(await Promise.race([skipped, later(LOOK_EVERY_MS, false)]))) {
      const now = { attempts, realMs: performance.now(), nowMs: await env.currentTimeMs() };
      const skippedMs = now.nowMs - seen.nowMs - (now.realMs - seen.realMs);
      const isIdle = running === 0 && now.attempts === seen.attempts && skippedMs < LOOK_EVERY_MS;
      seen = now;
      idle = isIdle ? idle + 1 : 0;
      if (idle < IDLE_LOOKS) continue;
      idle = 0;
      await env.connection.testService?.unlockTimeSkipping({});
    }
  }

  function pass(): void {
    passIfAllWait().catch((error: unknown) => {
      for (const { wake } of waiting.splice(0)) wake(error);
    });
  }

  return {
    nowMs: () => env.currentTimeMs(),
    async join(play) {
      players++;
      try {
        return await play();
      } finally {
        players--;
        pass();
      }
    },
    async sleep(ms) {
      const untilMs = Math.ceil(((await env.currentTimeMs()) + ms) / GRID_MS) * GRID_MS;
      await new Promise<void>((resolve, reject) => {
        waiting.push({ untilMs, wake: (error) => (error === undefined ? resolve() : reject(error)) });
        pass();
      });
    },
    workMs: () => begunMs.get(Context.current()) ?? 0,
    async work(call) {
      attempts++;
      running++;
      try {
        begunMs.set(Context.current(), await env.currentTimeMs());
        return await call();
      } finally {
        running--;
      }
    },
  };
}
