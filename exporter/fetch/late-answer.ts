import type { AnswerBody } from './answer-body.ts';
import type { Clock } from './clock.ts';
import type { Exchange } from './exchange.ts';

/** How long an answer may take. Times in milliseconds. */
export type AnswerPace = {
  /** Until its head is there. A body that comes at its slowest has this much time beside. */
  requestTimeoutMs: number;
  /** The longest pause of a body on its way. */
  idleTimeoutMs: number;
};

/**
 * The slowest body that is waited for, over its whole length. An origin that sends a byte now and then would otherwise
 * hold an export for years.
 */
const MIN_BYTES_PER_SECOND = 1024;

/** When an answer is late if nothing more comes, on the body's clock, and the reason; undefined: it is whole. */
export type Lateness = { at: number; reason: string };

/** An answer whose head is still to come. */
export function latenessOfHead(startedAt: number, { requestTimeoutMs }: AnswerPace): Lateness {
  return { at: startedAt + requestTimeoutMs, reason: `no answer within ${inWords(requestTimeoutMs)}` };
}

/**
 * An answer whose body is on its way. A body that keeps coming is never late, however long it takes; one that we
 * keep waiting ourselves isn't either.
 */
export function latenessOfBody(
  body: Pick<AnswerBody, 'isOver' | 'isHeld' | 'lastAt' | 'receivedBytes' | 'heldMs'>,
  startedAt: number,
  { requestTimeoutMs, idleTimeoutMs }: AnswerPace,
): Lateness | undefined {
  if (body.isOver) return undefined;
  const idleReason = `the body stalled: nothing came for ${inWords(idleTimeoutMs)}`;
  if (body.isHeld) return { at: Number.POSITIVE_INFINITY, reason: idleReason };
  const idleAt = body.lastAt + idleTimeoutMs;
  const neededMs = (1000 * body.receivedBytes) / MIN_BYTES_PER_SECOND;
  const slowAt = startedAt + requestTimeoutMs + body.heldMs + neededMs;
  if (idleAt <= slowAt) return { at: idleAt, reason: idleReason };
  return { at: slowAt, reason: `the body comes too slowly: less than ${MIN_BYTES_PER_SECOND} bytes a second` };
}

export type LateWatch = {
  /** Why the exchange was aborted; undefined: it wasn't. */
  aborted(): Lateness | undefined;
  stop(): void;
};

/** Why an exchange ended early: made once, for an error of each one's own would have its stack read. */
const LATE = new Error('the answer took too long');

/** Aborts an exchange once its answer is late. */
export function abortWhenLate(
  exchange: Pick<Exchange, 'abort'>,
  { lateness, clock, pace }: { lateness: () => Lateness | undefined; clock: Clock; pace: AnswerPace },
): LateWatch {
  let aborted: Lateness | undefined;
  let cancel = (): void => undefined;
  const look = (): void => {
    const late = lateness();
    if (late === undefined) return;
    const leftMs = late.at - clock.nowMs();
    if (leftMs > 0) {
      lookAfter(leftMs);
      return;
    }
    aborted = late;
    exchange.abort(LATE);
  };
  const lookAfter = (ms: number): void => {
    // Soon enough for a body that stalls as soon as it has begun.
    cancel = clock.after(Math.ceil(Math.min(ms, pace.idleTimeoutMs)), look);
  };
  lookAfter(pace.requestTimeoutMs);
  return { aborted: () => aborted, stop: () => cancel() };
}

function inWords(ms: number): string {
  return ms % 1000 === 0 ? `${ms / 1000} seconds` : `${ms} ms`;
}
