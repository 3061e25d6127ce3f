import type { Clock } from './clock.ts';
import type { Exchange } from './exchange.ts';
import type { ResponseBody } from './response-body.ts';

/** How long a response may take. Times in milliseconds. */
export type ResponsePace = {
  /** The time until the head arrives. The slowest allowed body gets this much extra time. */
  requestTimeoutMs: number;
  /** The longest pause in a body. */
  idleTimeoutMs: number;
};

/**
 * The slowest average rate of a body. Otherwise an origin that sends a byte now and then could block an export for
 * years.
 */
const MIN_BYTES_PER_SECOND = 1024;

/** When a response times out if nothing more arrives, on the body's clock, and why; undefined: it is complete. */
export type Lateness = { at: number; reason: string };

/** The deadline of a response whose head is still to come. */
export function latenessOfHead(startedAt: number, { requestTimeoutMs }: ResponsePace): Lateness {
  return { at: startedAt + requestTimeoutMs, reason: `no response within ${inWords(requestTimeoutMs)}` };
}

/**
 * The deadline of a response whose body is arriving. A body that keeps up its rate never times out, nor does one that
 * waits for us.
 */
export function latenessOfBody(
  body: Pick<ResponseBody, 'isOver' | 'isHeld' | 'lastAt' | 'receivedBytes' | 'heldMs'>,
  startedAt: number,
  { requestTimeoutMs, idleTimeoutMs }: ResponsePace,
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

type LateWatch = {
  /** Why the exchange was aborted; undefined if it wasn't. */
  aborted(): Lateness | undefined;
  stop(): void;
};

/** The reason for ending an exchange early; one shared error, because each new one would capture a stack. */
const LATE = new Error('the response took too long');

/** Aborts an exchange once its response is late. */
export function abortWhenLate(
  exchange: Pick<Exchange, 'abort'>,
  { lateness, clock, pace }: { lateness: () => Lateness | undefined; clock: Clock; pace: ResponsePace },
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
    // Early enough for a body that stalls right after its start.
    cancel = clock.after(Math.ceil(Math.min(ms, pace.idleTimeoutMs)), look);
  };
  lookAfter(pace.requestTimeoutMs);
  return { aborted: () => aborted, stop: () => cancel() };
}

function inWords(ms: number): string {
  return ms % 1000 === 0 ? `${ms / 1000} seconds` : `${ms} ms`;
}
