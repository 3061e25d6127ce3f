import { jest } from '@jest/globals';
import { Client, Connection } from '@temporalio/client';
import { DELIVERY_DEADLINE_MS } from '../../api/app.ts';
import { RECEIVER_CONNECTION, reconnectDelayMs } from '../../api/temporal-connection.ts';
import { createTemporalGateway } from '../../api/temporal-gateway.ts';
import type { PublishedSignal } from '../../contract/publish-event.ts';

const at = '2026-11-21T08:00:00.000Z';
const signal: PublishedSignal = {
  deliveries: [{ id: 'a', source: 'token', receivedAt: at, dedupeMs: 60_000 }],
  newest: { source: 'token', topic: '', action: 'publish', id: 'a', title: 'a', url: '', author: '', at },
};

afterEach(() => {
  jest.useRealTimers();
});

test('a signal without a response from Temporal fails after 1.5 s', async () => {
  jest.useFakeTimers();
  const hanging = { signalWithStart: () => new Promise<never>(() => {}) };
  const connection = Connection.lazy({ address: '127.0.0.1:1', ...RECEIVER_CONNECTION });
  const gateway = createTemporalGateway({
    client: new Client({ connection, interceptors: { workflow: [hanging] } }),
    searchAttributesReady: () => false,
    signalDeadlineMs: DELIVERY_DEADLINE_MS,
  });
  const failures: unknown[] = [];
  const site = { site: 'docs', domain: 'docs.example.com' };
  gateway.publish(site, signal).catch((error: unknown) => failures.push(error));
  await jest.advanceTimersByTimeAsync(1_499);
  expect(failures).toEqual([]);
  await jest.advanceTimersByTimeAsync(1);
  expect(failures).toEqual([new Error('no response within 1500 ms')]);
});

test('a signal that a closing workflow rejects gets six attempts within its deadline, even with the longest delays', () => {
  const longestMs = [1, 2, 3, 4, 5].map((attempt) => reconnectDelayMs(attempt, () => 1));
  expect(longestMs.reduce((sum, pauseMs) => sum + pauseMs)).toBeLessThan(DELIVERY_DEADLINE_MS);
});
