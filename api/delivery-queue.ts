import {
  type DeliveryRef,
  MAX_DELIVERIES_PER_SIGNAL,
  type PublishEvent,
  type PublishedSignal,
} from '../contract/publish-event.ts';
import { unavailable } from './unavailable.ts';

/** Temporal warns at 256 kB a payload; a signal stays below, its newest event and the list's own brackets included. */
const MAX_SIGNAL_BYTES = 256_000;

export type DeliveryQueueOptions = {
  /** Delivers one signal to who the lane is for; resolves once Temporal holds it. */
  send: (lane: string, signal: PublishedSignal) => Promise<void>;
  /** Signals tell every delivery's event instead of only the newest. */
  wholeEvents?: boolean;
  /** A delivery that isn't acknowledged by then is answered 503. */
  deadlineMs: number;
  /** Least time between the starts of two signals of one lane while deliveries queue up. */
  minGapMs?: number;
  /** Deliveries of one lane that may wait at a time; past it 503. */
  maxWaitingPerLane?: number;
  /** The same over all lanes: it bounds the memory. */
  maxWaiting?: number;
};

type Waiting = { delivery: DeliveryRef; event: PublishEvent; sizeBytes: number; settle: (failure?: Failure) => void };

type Failure = { error: unknown };

type Lane = { waiting: Waiting[]; sending: boolean; lastStartMs: number };

/**
 * Makes deliveries durable: one that arrives alone is signalled at once; those that arrive while a signal of the same
 * lane (a site, or a rule) is under way share the next one. Each caller's promise resolves only after the signal that carries its delivery
 * is acknowledged, and rejects with HttpError 503 otherwise. A delivery answered 503 may still have arrived: the
 * sender's resend has the same id, and the workflow knows it.
 */
export class DeliveryQueue {
  readonly #send: DeliveryQueueOptions['send'];
  readonly #wholeEvents: boolean;
  readonly #deadlineMs: number;
  readonly #minGapMs: number;
  readonly #maxWaitingPerLane: number;
  readonly #maxWaiting: number;
  readonly #lanes = new Map<string, Lane>();
  #size = 0;

  constructor(options: DeliveryQueueOptions) {
    this.#send = options.send;
    this.#wholeEvents = options.wholeEvents ?? false;
    this.#deadlineMs = options.deadlineMs;
    this.#minGapMs = options.minGapMs ?? 50;
    this.#maxWaitingPerLane = options.maxWaitingPerLane ?? 10_000;
    this.#maxWaiting = options.maxWaiting ?? 50_000;
  }

  /** How many deliveries wait for a signal to carry them, over all lanes. */
  get size(): number {
    return this.#size;
  }

  add(name: string, delivery: DeliveryRef, event: PublishEvent): Promise<void> {
    const lane = this.#lanes.get(name) ?? { waiting: [], sending: false, lastStartMs: Number.NEGATIVE_INFINITY };
    this.#lanes.set(name, lane);
    if (lane.waiting.length >= this.#maxWaitingPerLane || this.#size >= this.#maxWaiting) {
      return Promise.reject(unavailable('too many deliveries at once'));
    }
    return new Promise((resolve, reject) => {
      const expiry = setTimeout(() => {
        this.#forget(lane, entry);
        reject(unavailable('the delivery was not acknowledged in time'));
      }, this.#deadlineMs);
      const settle = (failure?: Failure): void => {
        clearTimeout(expiry);
        if (failure === undefined) resolve();
        else reject(failure.error);
      };
      const sizeBytes = sizeOf(delivery) + (this.#wholeEvents ? sizeOf(event) : 0);
      const entry = { delivery, event, sizeBytes, settle };
      lane.waiting.push(entry);
      this.#size += 1;
      if (!lane.sending) void this.#drain(name, lane);
    });
  }

  /** Sends until nothing waits. Only one of these runs for a lane, so signals keep the order of arrival. */
  async #drain(name: string, lane: Lane): Promise<void> {
    lane.sending = true;
    while (lane.waiting.length > 0) {
      const pauseMs = lane.lastStartMs + this.#minGapMs - performance.now();
      if (pauseMs > 0) await new Promise((resolve) => setTimeout(resolve, pauseMs));
      const batch = this.#takeBatch(lane);
      const newest = batch.at(-1);
      if (newest === undefined) continue;
      lane.lastStartMs = performance.now();
      const signal = {
        deliveries: batch.map(({ delivery }) => delivery),
        newest: newest.event,
        ...(this.#wholeEvents && { events: batch.map(({ event }) => event) }),
      };
      const failure = await this.#send(name, signal).then(
        () => undefined,
        (error: unknown) => ({ error }),
      );
      for (const { settle } of batch) settle(failure);
    }
    lane.sending = false;
  }

  /** The oldest deliveries that fit one signal; always at least one where any waits. */
  #takeBatch(lane: Lane): Waiting[] {
    let sizeBytes = 0;
    let count = 0;
    for (const entry of lane.waiting) {
      sizeBytes += entry.sizeBytes;
      const withNewestBytes = sizeBytes + sizeOf(entry.event) + 100;
      if (count > 0 && (count >= MAX_DELIVERIES_PER_SIGNAL || withNewestBytes > MAX_SIGNAL_BYTES)) break;
      count += 1;
    }
    this.#size -= count;
    return lane.waiting.splice(0, count);
  }

  #forget(lane: Lane, entry: Waiting): void {
    const index = lane.waiting.indexOf(entry);
    if (index === -1) return;
    lane.waiting.splice(index, 1);
    this.#size -= 1;
  }
}

function sizeOf(value: DeliveryRef | PublishEvent): number {
  return Buffer.byteLength(JSON.stringify(value)) + 1;
}
