import type { Socket } from 'node:net';
import type { buildConnector } from 'undici';
import createBaseConnector from 'undici/lib/core/connect.js';
import { errorCode } from './error-code.ts';

const RETRY_MS = 20;

/**
 * A connector for undici 7 that survives a server which ends while a response is being read slowly. undici fails an
 * assertion in its listener of `end` or `close` then, which would end the process
 * (https://github.com/nodejs/undici/issues/5360; mended only in release 8, for Node 22).
 */
export function createConnector(options: buildConnector.BuildOptions = {}): buildConnector.connector {
  // Half open, because undici can't read on from a socket that Node has destroyed at its end.
  const halfOpen: buildConnector.BuildOptions & { allowHalfOpen: boolean } = { ...options, allowHalfOpen: true };
  const connect = createBaseConnector(halfOpen);
  return (target, callback) =>
    connect(target, (error, socket) => {
      if (error !== null) callback(error, null);
      else callback(null, endAfterPause(socket));
    });
}

/** Both events wait until undici accepts them. */
function endAfterPause<S extends Socket>(socket: S): S {
  const emit = socket.emit;
  const waiting: [event: string, ...args: unknown[]][] = [];

  /** False if undici doesn't accept it yet. */
  const deliver = ([event, ...args]: [string, ...unknown[]]): boolean => {
    try {
      Reflect.apply(emit, socket, [event, ...args]);
      return true;
    } catch (error) {
      if (errorCode(error) === 'ERR_ASSERTION') return false;
      throw error;
    }
  };
  const deliverWaiting = (): void => {
    for (let next = waiting[0]; next !== undefined; next = waiting[0]) {
      if (!deliver(next)) return void setTimeout(deliverWaiting, RETRY_MS).unref();
      waiting.shift();
    }
  };

  return Object.assign(socket, {
    emit(event: string, ...args: unknown[]): boolean {
      if (event !== 'end' && event !== 'close') return Reflect.apply(emit, socket, [event, ...args]);
      waiting.push([event, ...args]);
      if (waiting.length === 1) deliverWaiting();
      return true;
    },
  });
}
