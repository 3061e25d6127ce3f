import type { Dispatcher } from 'undici';
import { ResponseBody } from './response-body.ts';

export type Headers = Readonly<Record<string, string | string[] | undefined>>;

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
