import { setTimeout as delay } from 'node:timers/promises';
import { Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import type { Logger } from 'pino';
import { withHeartbeat } from '../with-heartbeat.ts';

/** The failure type that makes Temporal offer the activity to another process. */
export const BUSY_HERE = 'BusyHere';

const FIRST_LOOKS = 3;
const FIRST_WAIT_MS = 500;
/** The later attempts wait longer, so that few offers are needed while the other activity works. */
const LATER_WAIT_MS = 5_000;
/** Must be below the number of attempts that the workflow allows. */
const LAST_LOOK = 20;
/** The delay before the next attempt. If the other activity ends meanwhile, this one notices that much later. */
const OFFER_DELAY_MS = 200;
/** The heartbeat detail of a waiting activity. The next attempt recognizes by it that it was offered again. */
const WAITING = 'this process works on the job already';

type JobMutex = {
  /**
   * Runs a job's work. If this process runs it already, waits for that to end and returns `idle`. From time to time a
   * waiting activity fails instead, so that Temporal offers it to all processes again. An activity that was offered again
   * works only for the rest of its round, because the others of the round wait for it. If no time is left, it returns
   * `idle`.
   */
  run<Result>(jobId: string, shared: Shared<Result>, work: (maxMs: number) => Promise<Result>): Promise<Result>;
};

type Shared<Result> = {
  idle: Result;
  /** The duration of a round. */
  maxMs: number;
};

/** The time as `Date.now` has it, and a pause that the signal ends. */
type Clock = { now(): number; sleep(ms: number, signal: AbortSignal): Promise<void> };

const realClock: Clock = { now: Date.now, sleep: (ms, signal) => delay(ms, undefined, { signal }) };

/**
 * Lets a process run one share of a job's work at a time. A second one would use the same connections and the same event
 * loop, so it would take memory and gain nothing, while another process is idle. For activities only.
 */
export function createJobMutex({ logger, clock = realClock }: { logger: Logger; clock?: Clock }): JobMutex {
  const running = new Map<string, Promise<unknown>>();

  return {
    async run(jobId, { idle, maxMs }, work) {
      const other = running.get(jobId);
      if (other !== undefined) {
        await untilEnded(other, { logger, clock });
        return idle;
      }
      const leftMs = timeLeftMs(maxMs, clock.now());
      if (leftMs <= 0) return idle;
      const own = work(leftMs);
      running.set(jobId, own);
      try {
        return await own;
      } finally {
        running.delete(jobId);
      }
    },
  };
}

/** What is left of the round. After a failure, an activity has a whole round again. */
function timeLeftMs(maxMs: number, nowMs: number): number {
  const { attempt, heartbeatDetails, scheduledTimestampMs } = Context.current().info;
  if (attempt === 1 || heartbeatDetails !== WAITING) return maxMs;
  return scheduledTimestampMs + maxMs - nowMs;
}

function untilEnded(other: Promise<unknown>, { logger, clock }: { logger: Logger; clock: Clock }): Promise<void> {
  return withHeartbeat({ details: () => WAITING, logger }, async ({ signal }) => {
    const { attempt } = Context.current().info;
    const waitMs = attempt <= FIRST_LOOKS ? FIRST_WAIT_MS : LATER_WAIT_MS;
    const ended = other.then(
      () => true,
      () => true,
    );
    while (!(await Promise.race([ended, clock.sleep(waitMs, signal).then(() => false)]))) {
      if (attempt >= LAST_LOOK) continue;
      throw ApplicationFailure.create({
        type: BUSY_HERE,
        message: 'This process works on the job already; another one may be idle',
        nextRetryDelay: OFFER_DELAY_MS,
        category: 'BENIGN',
      });
    }
  });
}
