import { InterceptingCall, type Interceptor, Metadata, type StatusObject, status } from '@grpc/grpc-js';
import { type ConnectionOptions, isRetryableError, makeGrpcRetryInterceptor } from '@temporalio/client';
import { backoff, jitterMs } from '../base/backoff.ts';

type NextCall = ConstructorParameters<typeof InterceptingCall>[0];

/**
 * Ends a call on a closed Temporal connection as canceled. gRPC throws instead, and a retry runs in a timer, where that
 * would end the process during its shutdown. Must come after the retry interceptor.
 */
export const endWithConnection: Interceptor = (options, nextCall) => {
  try {
    return new InterceptingCall(nextCall(options));
  } catch {
    return new InterceptingCall(endedCall());
  }
};

/** A call that is over before it starts, so that the retry interceptor stops. */
function endedCall(): NextCall {
  return {
    start(_metadata, listener) {
      setImmediate(() => {
        listener?.onReceiveMessage?.(null);
        listener?.onReceiveStatus?.({
          code: status.CANCELLED,
          details: 'the connection to Temporal was closed',
          metadata: new Metadata(),
        });
      });
    },
    sendMessage() {},
    sendMessageWithContext() {},
    startRead() {},
    halfClose() {},
    cancelWithStatus() {},
    getPeer: () => 'closed',
    getAuthContext: () => null,
  };
}

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
