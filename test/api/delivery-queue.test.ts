import { jest } from '@jest/globals';
import { DeliveryQueue, type DeliveryQueueOptions } from '../../api/delivery-queue.ts';
import { type PublishEvent, type PublishedSignal, publishedSignal } from '../../contract/publish-event.ts';
import { HttpError } from '../../web/http-error.ts';
import fc from '../helpers/fast-check.ts';

const DEADLINE_MS = 1_500;
const REJECTION = { status: 503, headers: { 'Retry-After': expect.any(String) } };

const ref = (id: string) => ({ id, source: 'token', receivedAt: '2026-01-01T00:00:00.000Z', dedupeMs: 60_000 });

const event = (id: string, title = id): PublishEvent => ({
  source: 'token',
  topic: '',
  action: 'publish',
  id,
  title,
  url: '',
  author: '',
  at: '2026-01-01T00:00:00.000Z',
});

/** Waits on the fake clock. */
const pause = (ms: number) => new Promise<void>((resolve) => void setTimeout(resolve, ms));

type Sent = { site: string; signal: PublishedSignal; atMs: number };

/** A queue whose signals take `tookMs`, and what it sent. */
function recordedQueue(tookMs: number, options: Partial<DeliveryQueueOptions> = {}) {
  const sent: Sent[] = [];
  const send = async (site: string, signal: PublishedSignal): Promise<void> => {
    sent.push({ site, signal, atMs: performance.now() });
    if (tookMs > 0) await pause(tookMs);
  };
  const queue = new DeliveryQueue({ send, deadlineMs: DEADLINE_MS, ...options });
  const add = (id: string, site = 'docs') => queue.add(site, ref(id), event(id));
  return { sent, queue, add };
}

const idsOf = (sent: readonly Sent[]) => sent.flatMap(({ signal }) => signal.deliveries.map(({ id }) => id));
const sizesOf = (sent: readonly Sent[]) => sent.map(({ signal }) => signal.deliveries.length);

/** The outcome of each delivery: its id, or the status of its rejection. */
const outcomesOf = (ids: readonly string[], added: readonly Promise<void>[]) =>
  Promise.all(
    added.map((each, index) =>
      each.then(
        () => ids[index],
        (error: unknown) => (error instanceof HttpError ? error.status : error),
      ),
    ),
  );

beforeEach(() => {
  jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate'] });
});

afterEach(() => {
  jest.useRealTimers();
});

describe('the delivery queue', () => {
  test('sends every delivery exactly once, in order, in signals within both limits', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 3_000 }),
        fc.integer({ min: 1, max: 128 }),
        async (count, idLength) => {
          const { sent, queue } = recordedQueue(0, { minGapMs: 0 });
          const ids = Array.from({ length: count }, (_, index) => String(index).padStart(idLength, '0'));
          await Promise.all(ids.map((id) => queue.add('docs', ref(id), event(id, 'ü'.repeat(500)))));
          expect(idsOf(sent)).toEqual(ids);
          for (const { signal } of sent) {
            publishedSignal.parse(signal);
            expect(Buffer.byteLength(JSON.stringify(signal))).toBeLessThanOrEqual(256_000);
            expect(signal.newest.id).toBe(signal.deliveries.at(-1)?.id);
          }
          expect(queue.size).toBe(0);
        },
      ),
      { numRuns: 20 },
    );
  });

  test('batches 500 deliveries in 5 s into a signal every 50 ms', async () => {
    const { sent, add } = recordedQueue(5);
    const ids = Array.from({ length: 500 }, (_, index) => String(index));
    const added: Promise<void>[] = [];
    for (const id of ids) {
      added.push(add(id));
      await jest.advanceTimersByTimeAsync(10);
    }
    await jest.advanceTimersByTimeAsync(100);
    await Promise.all(added);
    expect(idsOf(sent)).toEqual(ids);
    expect(sent.length).toBeLessThanOrEqual(101);
    const gapsMs = sent.slice(1).map(({ atMs }, index) => atMs - (sent[index]?.atMs ?? 0));
    expect(Math.min(...gapsMs)).toBeGreaterThanOrEqual(50);
  });

  test('sends one signal for all deliveries that arrive during the previous one', async () => {
    const { sent, add } = recordedQueue(1);
    const added = Promise.all(['a', 'b', 'c'].map((id) => add(id)));
    await jest.advanceTimersByTimeAsync(49);
    expect(sizesOf(sent)).toEqual([1]);
    await jest.advanceTimersByTimeAsync(2);
    expect(sizesOf(sent)).toEqual([1, 2]);
    await added;
  });

  test('sends a single delivery at once', async () => {
    const { sent, add } = recordedQueue(1);
    for (const id of ['a', 'b', 'c']) {
      const startMs = performance.now();
      const added = add(id);
      expect(sent.at(-1)).toMatchObject({ signal: { deliveries: [{ id }] }, atMs: startMs });
      await jest.advanceTimersByTimeAsync(60);
      await added;
    }
  });

  test('lets no site wait for another', async () => {
    const { sent, add } = recordedQueue(50);
    const added = ['a', 'b', 'c'].map((site) => add(site, site));
    expect(sent.map(({ site }) => site)).toEqual(['a', 'b', 'c']);
    await jest.advanceTimersByTimeAsync(50);
    await Promise.all(added);
  });

  test('acknowledges a delivery only after the signal that carries it', async () => {
    const order: string[] = [];
    const send = async (): Promise<void> => {
      await pause(50);
      order.push('signal');
    };
    const queue = new DeliveryQueue({ send, deadlineMs: DEADLINE_MS });
    const added = queue.add('docs', ref('a'), event('a')).then(() => order.push('delivery'));
    await jest.advanceTimersByTimeAsync(50);
    await added;
    expect(order).toEqual(['signal', 'delivery']);
  });

  test('fails the deliveries of a signal that failed, and only those', async () => {
    let calls = 0;
    const send = async (): Promise<void> => {
      calls += 1;
      if (calls === 2) throw new HttpError(503, 'refused');
    };
    const queue = new DeliveryQueue({ send, minGapMs: 0, deadlineMs: DEADLINE_MS });
    const ids = ['a', 'b', 'c'];
    const added = ids.map((id) => queue.add('docs', ref(id), event(id)));
    expect(await outcomesOf(ids, added)).toEqual(['a', 503, 503]);
    await expect(queue.add('docs', ref('d'), event('d'))).resolves.toBeUndefined();
  });

  test('rejects a delivery at its deadline and does not send it later', async () => {
    const { sent, queue, add } = recordedQueue(2 * DEADLINE_MS, { minGapMs: 2 * DEADLINE_MS });
    const failures: unknown[] = [];
    for (const id of ['a', 'b']) add(id).catch((error: unknown) => failures.push(error));
    await jest.advanceTimersByTimeAsync(DEADLINE_MS - 1);
    expect(failures).toEqual([]);
    await jest.advanceTimersByTimeAsync(1);
    expect(failures).toMatchObject([REJECTION, REJECTION]);
    expect(queue.size).toBe(0);
    await jest.advanceTimersByTimeAsync(10 * DEADLINE_MS);
    expect(idsOf(sent)).toEqual(['a']);
  });

  test('accepts every delivery while each signal takes most of the deadline', async () => {
    const { sent, add } = recordedQueue(DEADLINE_MS * 0.7);
    const ids = Array.from({ length: 100 }, (_, index) => String(index));
    const added: Promise<void>[] = [];
    for (const id of ids) {
      added.push(add(id));
      await jest.advanceTimersByTimeAsync(100);
    }
    const outcomes = outcomesOf(ids, added);
    await jest.advanceTimersByTimeAsync(DEADLINE_MS);
    expect(await outcomes).toEqual(ids);
    expect(idsOf(sent)).toEqual(ids);
  });

  test('rejects deliveries at once if too many wait for one site or in total', async () => {
    const { add } = recordedQueue(200, { maxWaitingPerLane: 2, maxWaiting: 3 });
    const ids = ['a0', 'a1', 'a2', 'a3', 'b4', 'b5', 'c6', 'c7'];
    const outcomes = outcomesOf(
      ids,
      ids.map((id) => add(id, id[0])),
    );
    await jest.advanceTimersByTimeAsync(1_000);
    // The first of each site is being sent. Two of a and one of b wait, and then the queue is full.
    expect(await outcomes).toEqual(['a0', 'a1', 'a2', 503, 'b4', 'b5', 503, 503]);
  });

  test('acknowledges only signaled deliveries, and sends none twice, for any failures and delays', async () => {
    const outcome = fc.constantFrom('taken', 'taken', 'refused', 'late');
    const arrival = fc.record({ site: fc.constantFrom('a', 'b', 'c'), pauseMs: fc.constantFrom(0, 0, 0, 2) });
    await fc.assert(
      fc.asyncProperty(
        fc.array(outcome, { minLength: 1, maxLength: 12 }),
        fc.array(arrival, { minLength: 1, maxLength: 60 }),
        async (outcomes, arrivals) => {
          const attempted: string[] = [];
          const accepted = new Set<string>();
          let calls = 0;
          const send = async (_site: string, { deliveries }: PublishedSignal): Promise<void> => {
            const what = outcomes[calls++ % outcomes.length];
            attempted.push(...deliveries.map(({ id }) => id));
            await pause(what === 'late' ? 40 : 1);
            if (what === 'refused') throw new HttpError(503, 'refused', { 'Retry-After': '5' });
            for (const { id } of deliveries) accepted.add(id);
          };
          const queue = new DeliveryQueue({ send, minGapMs: 1, deadlineMs: 20, maxWaitingPerLane: 4, maxWaiting: 8 });
          const acknowledged: string[] = [];
          const rejected: unknown[] = [];
          for (const [index, { site, pauseMs }] of arrivals.entries()) {
            const id = `${site}${index}`;
            queue.add(site, ref(id), event(id)).then(
              () => acknowledged.push(id),
              (error: unknown) => rejected.push(error),
            );
            await jest.advanceTimersByTimeAsync(pauseMs);
          }
          await jest.advanceTimersByTimeAsync(1_000);
          expect(acknowledged.filter((id) => !accepted.has(id))).toEqual([]);
          expect(new Set(attempted).size).toBe(attempted.length);
          expect(acknowledged.length + rejected.length).toBe(arrivals.length);
          expect(rejected).toMatchObject(rejected.map(() => REJECTION));
          expect(queue.size).toBe(0);
        },
      ),
      { numRuns: 60 },
    );
  });
});
