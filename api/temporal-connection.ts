import { type ConnectionOptions, isRetryableError, makeGrpcRetryInterceptor } from '@temporalio/client';
import { endWithConnection } from './closed-connection.ts';

const FIRST_DELAY_MS = 60;
const LONGEST_DELAY_MS = 400;
const ATTEMPTS = 8;

/**
 * How the receiver's connection to Temporal is tuned; the program that opens it spreads these into its options.
 *
 * Retries: a workflow that is just closing refuses signals for some milliseconds, as does a busy one. The SDK would wait
 * 1.4 s and more before it asks again, which is past the deadline of a delivery.
 *
 * Reconnecting: gRPC's pause between two tries grows to two minutes; a receiver must be back soon after Temporal is.
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

/** The pause after the nth try, ±20 % so that deliveries of many sites don't come again all at once. */
export function retryDelayMs(attempt: number, random: () => number = Math.random): number {
  return Math.min(FIRST_DELAY_MS * 1.6 ** (attempt - 1), LONGEST_DELAY_MS) * (0.8 + 0.4 * random());
}
