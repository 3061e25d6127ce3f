import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';

/** A measurement as a load process prints it. */
export const measurement = z.object({
  /** Successful responses per second. */
  perSecond: z.number(),
  p50Ms: z.number(),
  p99Ms: z.number(),
  /** Unsuccessful responses in the measured time. */
  refused: z.number(),
});
export type Measurement = z.infer<typeof measurement>;

export const loopOptions = z.object({
  inFlight: z.int().min(1),
  /** Warm-up: sent before anything is counted. */
  warmUpMs: z.int().min(0),
  measureMs: z.int().min(1),
});
export type LoopOptions = z.infer<typeof loopOptions>;

type LoopClock = { nowMs(): number; sleep(ms: number): Promise<void> };

const realClock: LoopClock = { nowMs: () => performance.now(), sleep: (ms) => delay(ms) };

/**
 * Keeps `inFlight` calls in progress for `measureMs`, or longer until one has ended. `send` gets a running number and
 * returns whether the call succeeded. Responses during the warm-up and after the end don't count.
 */
export async function closedLoop(
  { inFlight, warmUpMs, measureMs }: LoopOptions,
  send: (index: number) => Promise<boolean>,
  { nowMs, sleep }: LoopClock = realClock,
): Promise<Measurement> {
  const tookMs: number[] = [];
  let refused = 0;
  let next = 0;
  let running = true;
  const beginMs = nowMs() + warmUpMs;
  let endMs = Number.POSITIVE_INFINITY;

  const sender = async (): Promise<void> => {
    while (running) {
      const sentMs = nowMs();
      const counts = await send(next++);
      const answeredMs = nowMs();
      if (answeredMs < beginMs || answeredMs > endMs) continue;
      if (counts) tookMs.push(answeredMs - sentMs);
      else refused += 1;
    }
  };
  const senders = Array.from({ length: inFlight }, sender);
  await sleep(warmUpMs + measureMs);
  // A busy machine may not have responded even once.
  while (tookMs.length + refused === 0) await sleep(measureMs);
  endMs = nowMs();
  running = false;
  await Promise.all(senders);

  tookMs.sort((one, other) => one - other);
  const share = (part: number): number => tookMs[Math.min(tookMs.length - 1, Math.floor(tookMs.length * part))] ?? 0;
  const perSecond = (tookMs.length * 1_000) / (endMs - beginMs);
  return { perSecond, p50Ms: share(0.5), p99Ms: share(0.99), refused };
}
