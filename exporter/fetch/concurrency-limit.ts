/** One completed request: when it began and ended, on the caller's clock, and how long its response took to begin. */
export type CompletedRequest = {
  startedAtMs: number;
  nowMs: number;
  latencyMs: number;
  /** Whether all slots were taken while it ran: only then does its latency say something about the limit. */
  wasFull: boolean;
};

export type ConcurrencyLimit = {
  /** The current maximum of concurrent requests, at least 1. */
  current(): number;
  completed(request: CompletedRequest): void;
  /** The origin reported overload or didn't respond at all. */
  overloaded(request: { startedAtMs: number; nowMs: number }): void;
};

/** A response that takes this many times the base or more has waited in a queue. */
const TOLERANCE = 2;
/** Below this a longer wait doesn't matter, and timers, event loops and networks vary as much. */
const SLACK_MS = 50;
const MIN_ROUND = 4;
/** Two at a time show whether an origin is slow or has a queue of our requests. */
const LATENCY_FLOOR = 2;
const MAX_SHRINK = 0.5;

function medianOf(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

/**
 * Finds from latencies alone how many concurrent requests an origin can handle, much as TCP Vegas finds a connection's
 * window. Responses are measured in rounds of as many as the limit. The lowest median of a round is the base: the
 * latency without a queue.
 *
 * - While responses take at most twice the base, the limit grows: at first by one for every response that is about as
 *   quick as the quickest, which doubles it in a round; later by its square root per round.
 * - If they take longer, our requests are queued at the origin: the limit shrinks in proportion, at most by half.
 * - After a change, only requests that began later are measured.
 * - If shrinking didn't reduce the latency, the queue wasn't ours, and the latency becomes the new base. Otherwise a
 *   site whose pages take longer than its images would be crawled ever more slowly.
 * - An overload (429, 503, timeout, reset) halves the limit, once for all concurrent requests; then it grows by one per
 *   round.
 */
export function createConcurrencyLimit({ initial, max }: { initial: number; max: number }): ConcurrencyLimit {
  let limit = Math.min(initial, max);
  let growth: 'doubling' | 'root' | 'one' = 'doubling';
  let baseMs = Number.POSITIVE_INFINITY;
  let quickestMs = Number.POSITIVE_INFINITY;
  let changedAtMs = Number.NEGATIVE_INFINITY;
  let halvedAtMs = Number.NEGATIVE_INFINITY;
  let shrunk: { fromLatencyMs: number; ratio: number } | undefined;
  let latencies: number[] = [];
  let roundSize = 0;
  let limitBefore = limit;
  let wasFull = false;

  function beginRound(): void {
    latencies = [];
    wasFull = false;
    limitBefore = limit;
    roundSize = Math.max(MIN_ROUND, Math.floor(limit));
  }

  function grow(by: number): void {
    limit = Math.min(max, limit + by);
  }

  function readBase(latencyMs: number): void {
    const expectedMs = shrunk && (shrunk.fromLatencyMs * (1 + shrunk.ratio)) / 2;
    const isOurs = expectedMs === undefined || latencyMs <= expectedMs;
    baseMs = isOurs ? Math.min(baseMs, latencyMs) : latencyMs;
    shrunk = undefined;
  }

  function allowedMs(): number {
    return TOLERANCE * baseMs + SLACK_MS;
  }

  /** Only quick responses count, because the first round's median may already include a queue of ours. */
  function growQuickly(request: CompletedRequest): void {
    quickestMs = Math.min(quickestMs, request.latencyMs);
    if (request.wasFull && request.latencyMs <= TOLERANCE * quickestMs + SLACK_MS) grow(1);
  }

  function endRound(nowMs: number): void {
    const latencyMs = medianOf(latencies);
    readBase(latencyMs);
    const before = limit;
    const isSteady = growth !== 'doubling';
    if (!isSteady && wasFull && limit === limitBefore) growth = 'root';
    if (latencyMs <= allowedMs()) {
      if (isSteady && wasFull) grow(growth === 'root' ? Math.sqrt(limit) : 1);
    } else if (limit <= LATENCY_FLOOR) {
      baseMs = latencyMs;
    } else {
      limit = Math.max(LATENCY_FLOOR, limit * Math.max(MAX_SHRINK, allowedMs() / latencyMs));
      // A round in which the limit grew began with a lower limit, so its latency can't be compared.
      shrunk = isSteady ? { fromLatencyMs: latencyMs, ratio: limit / before } : undefined;
      if (growth === 'doubling') growth = 'root';
    }
    if (isSteady ? limit !== before : limit < before) changedAtMs = nowMs;
    beginRound();
  }

  beginRound();
  return {
    current: () => Math.floor(limit),

    completed(request) {
      if (request.startedAtMs < changedAtMs) return;
      latencies.push(request.latencyMs);
      wasFull ||= request.wasFull;
      if (growth === 'doubling') growQuickly(request);
      if (latencies.length < roundSize) return;
      endRound(request.nowMs);
    },

    overloaded({ startedAtMs, nowMs }) {
      if (startedAtMs < halvedAtMs) return;
      growth = 'one';
      limit = Math.max(1, limit / 2);
      halvedAtMs = nowMs;
      changedAtMs = nowMs;
      shrunk = undefined;
      beginRound();
    },
  };
}
