import { InterceptingCall, type Interceptor, Metadata, status } from '@grpc/grpc-js';

type NextCall = ConstructorParameters<typeof InterceptingCall>[0];

/**
 * Put after the retries of a Temporal connection: what is called on a connection that has been closed ends as cancelled.
 * gRPC throws instead, and in a retry, which comes from a timer, that would end the process in the middle of its stop.
 */
export const endWithConnection: Interceptor = (options, nextCall) => {
  try {
    return new InterceptingCall(nextCall(options));
  } catch {
    return new InterceptingCall(endedCall());
  }
};

/** A call that was over before it began: the retries take that for an answer, and ask no more. */
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
