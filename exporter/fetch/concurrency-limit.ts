/** One completed request: when it began and ended, on the caller's clock, and how long its response took to begin. */
type CompletedRequest = {
  startedAtMs: number;
  nowMs: number;
  latencyMs: number;
  /** Whether all slots were taken while it ran: only then does its latency say something about the limit. */
  wasFull: boolean;
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
export class ConcurrencyLimit {
  private readonly max: number;
  private limit: number;
  private growth: 'doubling' | 'root' | 'one' = 'doubling';
  private baseMs = Number.POSITIVE_INFINITY;
  private quickestMs = Number.POSITIVE_INFINITY;
  private changedAtMs = Number.NEGATIVE_INFINITY;
  private halvedAtMs = Number.NEGATIVE_INFINITY;
  private shrunk: { fromLatencyMs: number; ratio: number } | undefined;
  private latencies: number[] = [];
  private roundSize = 0;
  private limitBefore = 0;
  private wasFull = false;

  constructor({ initial, max }: { initial: number; max: number }) {
    this.max = max;
    this.limit = Math.min(initial, max);
    this.beginRound();
  }

  /** The current maximum of concurrent requests, at least 1. */
  current(): number {
    return Math.floor(this.limit);
  }

  completed(request: CompletedRequest): void {
    if (request.startedAtMs < this.changedAtMs) return;
    this.latencies.push(request.latencyMs);
    this.wasFull ||= request.wasFull;
    if (this.growth === 'doubling') this.growQuickly(request);
    if (this.latencies.length < this.roundSize) return;
    this.endRound(request.nowMs);
  }

  /** The origin reported overload or didn't respond at all. */
  overloaded({ startedAtMs, nowMs }: { startedAtMs: number; nowMs: number }): void {
    if (startedAtMs < this.halvedAtMs) return;
    this.growth = 'one';
    this.limit = Math.max(1, this.limit / 2);
    this.halvedAtMs = nowMs;
    this.changedAtMs = nowMs;
    this.shrunk = undefined;
    this.beginRound();
  }

  private beginRound(): void {
    this.latencies = [];
    this.wasFull = false;
    this.limitBefore = this.limit;
    this.roundSize = Math.max(MIN_ROUND, Math.floor(this.limit));
  }

  private grow(by: number): void {
    this.limit = Math.min(this.max, this.limit + by);
  }

  private readBase(latencyMs: number): void {
    const expectedMs = this.shrunk && (this.shrunk.fromLatencyMs * (1 + this.shrunk.ratio)) / 2;
    const isOurs = expectedMs === undefined || latencyMs <= expectedMs;
    this.baseMs = isOurs ? Math.min(this.baseMs, latencyMs) : latencyMs;
    this.shrunk = undefined;
  }

  private allowedMs(): number {
    return TOLERANCE * this.baseMs + SLACK_MS;
  }

  /** Only quick responses count, because the first round's median may already include a queue of ours. */
  private growQuickly(request: CompletedRequest): void {
    this.quickestMs = Math.min(this.quickestMs, request.latencyMs);
    if (request.wasFull && request.latencyMs <= TOLERANCE * this.quickestMs + SLACK_MS) this.grow(1);
  }

  private endRound(nowMs: number): void {
    const latencyMs = medianOf(this.latencies);
    this.readBase(latencyMs);
    const before = this.limit;
    const isSteady = this.growth !== 'doubling';
    if (!isSteady && this.wasFull && this.limit === this.limitBefore) this.growth = 'root';
    if (latencyMs <= this.allowedMs()) {
      if (isSteady && this.wasFull) this.grow(this.growth === 'root' ? Math.sqrt(this.limit) : 1);
    } else if (this.limit <= LATENCY_FLOOR) {
      this.baseMs = latencyMs;
    } else {
      this.limit = Math.max(LATENCY_FLOOR, this.limit * Math.max(MAX_SHRINK, this.allowedMs() / latencyMs));
      // A round in which the limit grew began with a lower limit, so its latency can't be compared.
      this.shrunk = isSteady ? { fromLatencyMs: latencyMs, ratio: this.limit / before } : undefined;
      if (this.growth === 'doubling') this.growth = 'root';
    }
    if (isSteady ? this.limit !== before : this.limit < before) this.changedAtMs = nowMs;
    this.beginRound();
  }
}
