import {
  type DeliveryRef,
  MAX_DELIVERIES_PER_SIGNAL,
  type PublishEvent,
  type PublishedSignal,
} from '../contract/publish-event.ts';
import { withinDeadline } from './deadline.ts';
import { unavailable } from './unavailable.ts';

/** After this part of the deadline, the next signal no longer waits for the one before. */
const PATIENCE = 1 / 4;

/** Temporal warns from 256 kB per payload. The newest event and the list's brackets count too. */
const MAX_SIGNAL_BYTES = 256_000;

export type DeliveryQueueOptions = {
  /** Sends one signal to the lane's workflow; resolves once Temporal holds it. */
  send: (lane: string, signal: PublishedSignal) => Promise<void>;
  /** Signals carry the event of every delivery instead of only the newest. */
  wholeEvents?: boolean;
  /** After this time without an acknowledgment, a delivery gets a 503. */
  deadlineMs: number;
  /** Minimum time between two signals of one lane while deliveries wait. */
  minGapMs?: number;
  /** Maximum of waiting deliveries in one lane; further ones get a 503. */
  maxWaitingPerLane?: number;
  /** The same for all lanes together, which limits the memory. */
  maxWaiting?: number;
};

type Waiting = { delivery: DeliveryRef; event: PublishEvent; sizeBytes: number; settle: (failure?: Failure) => void };

type Failure = { error: unknown };

type Lane = { waiting: Waiting[]; sending: boolean; lastStartMs: number };

/**
 * Makes deliveries durable. A lane is a site or a rule. A delivery to an idle lane is signaled at once; those that arrive
 * while a signal is under way share the next one, which waits only so long: they need time for an acknowledgment of their
 * own. A promise resolves once the signal with its delivery is acknowledged,
 * and rejects with HttpError 503 otherwise. A delivery that got a 503 may have arrived, but its resend has the same id.
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

  /** The number of waiting deliveries in all lanes. */
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

  /** Sends until the lane is empty. Only one of these runs per lane, which sends in the order of arrival. */
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
      const settled = this.#send(name, signal)
        .then(
          () => undefined,
          (error: unknown) => ({ error }),
        )
        .then((failure) => {
          for (const { settle } of batch) settle(failure);
        });
      await withinDeadline(this.#deadlineMs * PATIENCE, settled).catch(() => undefined);
    }
    lane.sending = false;
  }

  /** The oldest deliveries that fit into one signal; at least one if any waits. */
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
