import { type Interceptor, type StatusObject, status } from '@grpc/grpc-js';
import { type ConnectionOptions, isRetryableError, makeGrpcRetryInterceptor } from '@temporalio/client';
import { backoff, jitterMs } from '../base/backoff.ts';
import { endWithConnection } from './closed-connection.ts';

const grownDelayMs = backoff({ firstMs: 60, maxMs: 400, factor: 1.6 });
const ATTEMPTS = 8;

/** The calls that send an update, the second one also starts the workflow. */
const UPDATE_CALLS = /\/(UpdateWorkflowExecution|ExecuteMultiOperation)$/;

const retryCall = retryIf(isRetryableError);

/**
 * If an event arrives while a workflow task handles an update and ends the run, the server drops that task and reports
 * this code. The update didn't happen. A repeated request has the same update id, so it can't happen twice.
 */
const retryUpdate = retryIf((received) => isRetryableError(received) || received.code === status.FAILED_PRECONDITION);

/**
 * Options for the receiver's connection to Temporal.
 *
 * Retries: a closing or busy workflow rejects signals and updates for some milliseconds. The SDK would retry after 1.4 s
 * or more, too late for the deadline of a delivery.
 *
 * Reconnects: gRPC's back-off grows to two minutes, but the receiver must work soon after Temporal is back.
 */
export const RECEIVER_CONNECTION: Pick<ConnectionOptions, 'interceptors' | 'channelArgs'> = {
  interceptors: [
    (options, nextCall) => {
      const retry = UPDATE_CALLS.test(options.method_definition.path) ? retryUpdate : retryCall;
      return retry(options, nextCall);
    },
    endWithConnection,
  ],
  channelArgs: { 'grpc.initial_reconnect_backoff_ms': 500, 'grpc.max_reconnect_backoff_ms': 3_000 },
};

/** The delay after the nth attempt, with ±20 % jitter so that the deliveries of many sites don't retry at once. */
export function reconnectDelayMs(attempt: number, random: () => number = Math.random): number {
  return jitterMs(grownDelayMs(attempt), 0.2, random());
}

function retryIf(isTransient: (received: StatusObject) => boolean): Interceptor {
  return makeGrpcRetryInterceptor({
    delayFunction: (attempt) => reconnectDelayMs(attempt),
    retryableDecider: (attempt, received) => attempt < ATTEMPTS && isTransient(received),
  });
}
