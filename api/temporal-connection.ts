import { type ConnectionOptions, isRetryableError, makeGrpcRetryInterceptor } from '@temporalio/client';
import { endWithConnection } from './closed-connection.ts';

const FIRST_DELAY_MS = 60;
const LONGEST_DELAY_MS = 400;
const ATTEMPTS = 8;

/**
 * Options for the receiver's connection to Temporal.
 *
 * Retries: a closing or busy workflow rejects signals for some milliseconds. The SDK would retry after 1.4 s or more, too
 * late for the deadline of a delivery.
 *
 * Reconnects: gRPC's back-off grows to two minutes, but the receiver must work soon after Temporal is back.
 */
export const RECEIVER_CONNECTION: Pick<ConnectionOptions, 'interceptors' | 'channelArgs'> = {
  interceptors: [
    makeGrpcRetryInterceptor({
      delayFunction: (attempt) => retryDelayMs(attempt),
      retryableDecider: (attempt, status) => attempt < ATTEMPTS && isRetryableError(status),
    }),
    endWithConnection,
  ],
  channelArgs: { 'grpc.initial_reconnect_backoff_ms': 500, 'grpc.max_reconnect_backoff_ms': 3_000 },
};

/** The delay after the nth attempt, with ±20 % jitter so that the deliveries of many sites don't retry at once. */
export function retryDelayMs(attempt: number, random: () => number = Math.random): number {
  return Math.min(FIRST_DELAY_MS * 1.6 ** (attempt - 1), LONGEST_DELAY_MS) * (0.8 + 0.4 * random());
}
