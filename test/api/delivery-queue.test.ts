import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { DeliveryQueue } from '../../api/delivery-queue.ts';
import { HttpError } from '../../contract/http-error.ts';
import { type PublishEvent, type PublishedSignal, publishedSignal } from '../../contract/publish-event.ts';

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

type Sent = { site: string; signal: PublishedSignal; atMs: number };

/** A queue whose signals take `tookMs`, and what it sent. */
function recordedQueue(tookMs: number, options: object = {}) {
  const sent: Sent[] = [];
  const send = async (site: string, signal: PublishedSignal): Promise<void> => {
    sent.push({ site, signal, atMs: performance.now() });
    await sleep(tookMs);
  };
  return { sent, queue: new DeliveryQueue({ send, ...options }) };
}

const idsOf = (sent: readonly Sent[]) => sent.flatMap(({ signal }) => signal.deliveries.map(({ id }) => id));

describe('the delivery queue', () => {
  test('sends every delivery exactly once, in order, in signals that keep both limits', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 3_000 }),
        fc.integer({ min: 1, max: 128 }),
        async (count, idLength) => {
          const { sent, queue } = recordedQueue(0, { minGapMs: 0, deadlineMs: 20_000 });
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

  test('makes those that come during a signal share the next one, no sooner than the gap after it', async () => {
    const { sent, queue } = recordedQueue(1, { minGapMs: 100 });
    await Promise.all(['a', 'b', 'c'].map((id) => queue.add('docs', ref(id), event(id))));
    expect(sent.map(({ signal }) => signal.deliveries.length)).toEqual([1, 2]);
    expect((sent[1]?.atMs ?? 0) - (sent[0]?.atMs ?? 0)).toBeGreaterThanOrEqual(99);
  });

  test('lets no site wait for another', async () => {
    const { sent, queue } = recordedQueue(50);
    const added = ['a', 'b', 'c'].map((site) => queue.add(site, ref(site), event(site)));
    expect(sent.map(({ site }) => site)).toEqual(['a', 'b', 'c']);
    await Promise.all(added);
  });

  test('resolves a delivery only after the signal that carries it', async () => {
    const order: string[] = [];
    const send = async (): Promise<void> => {
      await sleep(50);
      order.push('signal acknowledged');
    };
    const queue = new DeliveryQueue({ send });
    await queue.add('docs', ref('a'), event('a')).then(() => order.push('delivery acknowledged'));
    expect(order).toEqual(['signal acknowledged', 'delivery acknowledged']);
  });

  test('fails the deliveries of a signal that failed, and only those', async () => {
    let calls = 0;
    const send = async (): Promise<void> => {
      calls += 1;
      if (calls === 2) throw new HttpError(503, 'refused');
    };
    const queue = new DeliveryQueue({ send, minGapMs: 1 });
    const results = await Promise.allSettled(['a', 'b', 'c'].map((id) => queue.add('docs', ref(id), event(id))));
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected']);
    await expect(queue.add('docs', ref('d'), event('d'))).resolves.toBeUndefined();
  });

  test('turns a delivery back at its deadline and does not send it later', async () => {
    const { sent, queue } = recordedQueue(300, { deadlineMs: 100 });
    const first = queue.add('docs', ref('a'), event('a'));
    const second = queue.add('docs', ref('b'), event('b'));
    await expect(first).rejects.toMatchObject({ status: 503, headers: { 'Retry-After': expect.any(String) } });
    await expect(second).rejects.toMatchObject({ status: 503 });
    expect(queue.size).toBe(0);
    await sleep(400);
    expect(idsOf(sent)).toEqual(['a']);
  });

  test('turns deliveries back at once when too many wait, of one site or of all', async () => {
    const { queue } = recordedQueue(200, { maxWaitingPerLane: 2, maxWaiting: 3 });
    const results = ['a', 'a', 'a', 'a', 'b', 'b', 'c', 'c'].map((site, index) => {
      const id = `${site}${index}`;
      return queue.add(site, ref(id), event(id)).then(
        () => id,
        (error: unknown) => (error instanceof HttpError ? error.status : error),
      );
    });
    // The first of each site is on its way, two of a wait, one of b; then all places are taken.
    expect(await Promise.all(results)).toEqual(['a0', 'a1', 'a2', 503, 'b4', 'b5', 503, 503]);
  });

  test('acknowledges only what a signal carried, and carries nothing twice, whatever fails, hangs or finds no room', async () => {
    const outcome = fc.constantFrom('taken', 'taken', 'refused', 'late');
    await fc.assert(
      fc.asyncProperty(
        fc.array(outcome, { minLength: 1, maxLength: 12 }),
        fc.array(fc.record({ site: fc.constantFrom('a', 'b', 'c'), pauseMs: fc.constantFrom(0, 0, 0, 2) }), {
          minLength: 1,
          maxLength: 60,
        }),
        async (outcomes, arrivals) => {
          const tried: string[] = [];
          const taken = new Set<string>();
          let calls = 0;
          const send = async (_site: string, { deliveries }: PublishedSignal): Promise<void> => {
            const what = outcomes[calls++ % outcomes.length];
            tried.push(...deliveries.map(({ id }) => id));
            await sleep(what === 'late' ? 40 : 1);
            if (what === 'refused') throw new HttpError(503, 'refused', { 'Retry-After': '5' });
            for (const { id } of deliveries) taken.add(id);
          };
          const queue = new DeliveryQueue({ send, minGapMs: 1, deadlineMs: 20, maxWaitingPerLane: 4, maxWaiting: 8 });
          const acknowledged: string[] = [];
          const turnedBack: unknown[] = [];
          const added: Promise<unknown>[] = [];
          for (const [index, { site, pauseMs }] of arrivals.entries()) {
            const id = `${site}${index}`;
            const add = queue.add(site, ref(id), event(id));
            added.push(add.then(() => acknowledged.push(id)).catch((error: unknown) => turnedBack.push(error)));
            if (pauseMs > 0) await sleep(pauseMs);
          }
          await Promise.all(added);
          expect(acknowledged.filter((id) => !taken.has(id))).toEqual([]);
          expect(new Set(tried).size).toBe(tried.length);
          expect(acknowledged.length + turnedBack.length).toBe(arrivals.length);
          for (const error of turnedBack) {
            expect(error).toMatchObject({ status: 503, headers: { 'Retry-After': expect.any(String) } });
          }
          expect(queue.size).toBe(0);
        },
      ),
      { numRuns: 60 },
    );
  });
});
