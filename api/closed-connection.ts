import { InterceptingCall, type Interceptor, Metadata, status } from '@grpc/grpc-js';

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
