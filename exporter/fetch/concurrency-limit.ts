/** One answered request: when it began and ended, on the caller's clock, and how long its answer took to begin. */
export type AnsweredRequest = {
  startedAtMs: number;
  nowMs: number;
  latencyMs: number;
  /** Whether every place was taken while it ran: only then does its latency speak for the limit. */
  wasFull: boolean;
};

export type ConcurrencyLimit = {
  /** Requests that may be under way now; at least 1. */
  current(): number;
  answered(request: AnsweredRequest): void;
  /** The origin said that it is asked too much, or didn't answer at all. */
  overloaded(request: { startedAtMs: number; nowMs: number }): void;
};

/** An answer that takes this many times the base, and more, has waited in a queue. */
const TOLERANCE = 2;
/** Below this a longer wait costs nobody anything, and timers, loops and networks are no steadier. */
const SLACK_MS = 50;
const MIN_ROUND = 4;
/** Two at a time tell an origin that is slow from one that has a queue of ours. */
const LATENCY_FLOOR = 2;
const MAX_SHRINK = 0.5;

function medianOf(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

/**
 * How many requests at a time an origin bears, found from its answers alone, much as TCP Vegas finds a connection's
 * window. Answers are taken in rounds of as many as the limit. The lowest median of a round is the base: what an answer
 * takes where nothing waits.
 *
 * - While answers take no more than twice the base, the limit grows: at first by one with every answer that is about as
 *   quick as the quickest, which doubles it in a round; later by its root each round.
 * - Where they take longer, what we ask stands in a queue at the origin: the limit shrinks in proportion, to the half at
 *   most.
 * - A changed limit is judged only by answers to what was asked after the change.
 * - A shrink that didn't bring the latency down shows that the queue wasn't ours. What was measured is the new base, so a
 *   site whose pages take longer than its pictures isn't asked ever more slowly.
 * - An overload (429, 503, a time-out, a reset) halves the limit, once for all that was under way together; from then on
 *   it grows by one a round.
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

  /** Only quick answers count, for the first round's median may have a queue of ours in it already. */
  function growQuickly(request: AnsweredRequest): void {
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
      // A round that grew was asked with fewer at a time than it ended with: it can't be compared.
      shrunk = isSteady ? { fromLatencyMs: latencyMs, ratio: limit / before } : undefined;
      if (growth === 'doubling') growth = 'root';
    }
    if (isSteady ? limit !== before : limit < before) changedAtMs = nowMs;
    beginRound();
  }

  beginRound();
  return {
    current: () => Math.floor(limit),

    answered(request) {
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
