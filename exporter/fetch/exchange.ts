import type { buildConnector, Dispatcher } from 'undici';
import Agent from 'undici/lib/dispatcher/agent.js';
import { createConnector } from '../../base/connector.ts';
import { type AddressGuard, portOf } from './address-guard.ts';
import { errorMessage } from './error-code.ts';
import type { Headers } from './fetch-result.ts';
import { ResponseBody } from './response-body.ts';

/** The head of a response whose body is still arriving. */
export type OriginResponse = { status: number; headers: Headers; body: ResponseBody };

export type Exchange = {
  /** Rejects if there is no response. */
  response: Promise<OriginResponse>;
  /** Ends the exchange and its connection; pending reads fail with the reason. */
  abort(reason: Error): void;
};

/** `headers`: names and values in turn. */
type Get = { origin: string; path: string; headers: string[]; maxHeldBytes: number; nowMs: () => number };

/** Requests one resource. If more than `maxHeldBytes` of the body are unread, the origin has to wait. */
export function beginExchange(dispatcher: Dispatcher, { origin, path, headers, maxHeldBytes, nowMs }: Get): Exchange {
  const handler = new ExchangeHandler(maxHeldBytes, nowMs);
  dispatcher.dispatch({ origin, path, headers, method: 'GET' }, handler);
  return { response: handler.response, abort: (reason) => handler.abort(reason) };
}

/** The dispatcher's events of one exchange, in order: start, head of the response, chunks of the body, end. */
class ExchangeHandler implements Dispatcher.DispatchHandler {
  readonly response: Promise<OriginResponse>;
  private readonly maxHeldBytes: number;
  private readonly nowMs: () => number;
  private resolve: (response: OriginResponse) => void = () => undefined;
  private reject: (error: unknown) => void = () => undefined;
  private controller: Dispatcher.DispatchController | undefined;
  private body: ResponseBody | undefined;
  private isOver = false;
  private aborted: Error | undefined;

  constructor(maxHeldBytes: number, nowMs: () => number) {
    this.maxHeldBytes = maxHeldBytes;
    this.nowMs = nowMs;
    this.response = new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
  }

  abort(reason: Error): void {
    if (this.isOver) return;
    this.aborted = reason;
    this.fail(reason);
    // An exchange that waits for a connection has no controller yet, and is aborted when it starts.
    this.controller?.abort(reason);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.controller = controller;
    if (this.aborted !== undefined) controller.abort(this.aborted);
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number, headers: Headers): void {
    // Informational responses (103 and the like) are ignored.
    if (status < 200) return;
    this.body = new ResponseBody(controller, this.maxHeldBytes, this.nowMs);
    this.resolve({ status, headers, body: this.body });
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.body?.push(chunk);
  }

  onResponseEnd(): void {
    this.isOver = true;
    this.body?.finish('whole');
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.fail(error);
  }

  private fail(error: unknown): void {
    this.isOver = true;
    this.reject(error);
    this.body?.finish({ error });
  }
}

const CONNECT_TIMEOUT_MS = 10_000;

type Connector = ReturnType<typeof buildConnector>;
type ConnectOptions = Parameters<Connector>[0];
type Socket = Exclude<Parameters<Parameters<Connector>[1]>[1], null>;

function connectTo(connect: Connector, options: ConnectOptions): Promise<Socket> {
  return new Promise((resolve, reject) => {
    connect(options, (error, socket) => {
      if (error !== null) reject(error);
      else resolve(socket);
    });
  });
}

/**
 * undici takes a reset for the end of a body without a length, and would return half a page as complete. Under another
 * name it counts as a failure.
 */
function renameReset(error: Error): void {
  if ('code' in error && error.code === 'ECONNRESET') Object.assign(error, { code: 'RESET' });
}

/**
 * An undici Agent that asks the guard before each new connection and connects to the address that the guard returned.
 * It never resolves a name again and ignores proxy variables. TLS still checks the certificate against the name.
 */
export function createPinnedAgent(options: { guard: AddressGuard; maxConnectionsPerOrigin: number }): Agent {
  const base = createConnector({ timeout: CONNECT_TIMEOUT_MS });

  async function connectPinned(target: ConnectOptions): Promise<Socket> {
    let lastError: unknown = new Error('no address');
    for (const address of await options.guard.addressesFor(target.hostname, portOf(target))) {
      try {
        const socket = await connectTo(base, { ...target, hostname: address });
        return socket.prependListener('error', renameReset);
      } catch (error) {
        lastError = error;
      }
    }
    throw lastError;
  }

  return new Agent({
    connections: options.maxConnectionsPerOrigin,
    pipelining: 1,
    // The fetcher has its own timeouts, which report the reason.
    headersTimeout: 0,
    bodyTimeout: 0,
    keepAliveTimeout: 10_000,
    connect: (target, callback) => {
      connectPinned(target).then(
        (socket) => callback(null, socket),
        (error: unknown) => callback(new Error(errorMessage(error), { cause: error }), null),
      );
    },
  });
}
