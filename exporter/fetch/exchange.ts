import type { Dispatcher } from 'undici';
import { AnswerBody } from './answer-body.ts';

export type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** The head of an answer, whose body is still on its way. */
export type Answer = { status: number; headers: Headers; body: AnswerBody };

export type Exchange = {
  /** Rejects where no answer came. */
  answer: Promise<Answer>;
  /** Ends what is still under way, with the connection; whoever waits for it hears the reason. */
  abort(reason: Error): void;
};

/** `headers`: names and values in turn. */
type Get = { origin: string; path: string; headers: string[]; maxHeldBytes: number; nowMs: () => number };

/** Asks for one resource. Ahead of `maxHeldBytes` of a body that nobody has taken the origin waits. */
export function beginExchange(dispatcher: Dispatcher, { origin, path, headers, maxHeldBytes, nowMs }: Get): Exchange {
  const handler = new ExchangeHandler(maxHeldBytes, nowMs);
  dispatcher.dispatch({ origin, path, headers, method: 'GET' }, handler);
  return { answer: handler.answer, abort: (reason) => handler.abort(reason) };
}

/** What the dispatcher tells of one exchange, in order: its start, the answer's head, the body's chunks, the end. */
class ExchangeHandler implements Dispatcher.DispatchHandler {
  readonly answer: Promise<Answer>;
  private readonly maxHeldBytes: number;
  private readonly nowMs: () => number;
  private resolve: (answer: Answer) => void = () => undefined;
  private reject: (error: unknown) => void = () => undefined;
  private controller: Dispatcher.DispatchController | undefined;
  private body: AnswerBody | undefined;
  private isOver = false;
  private aborted: Error | undefined;

  constructor(maxHeldBytes: number, nowMs: () => number) {
    this.maxHeldBytes = maxHeldBytes;
    this.nowMs = nowMs;
    this.answer = new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
  }

  abort(reason: Error): void {
    if (this.isOver) return;
    this.aborted = reason;
    this.fail(reason);
    // One that waits for a connection has no controller yet, and ends where it begins.
    this.controller?.abort(reason);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.controller = controller;
    if (this.aborted !== undefined) controller.abort(this.aborted);
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number, headers: Headers): void {
    // What comes before the answer (103 and its like) is nothing to us.
    if (status < 200) return;
    this.body = new AnswerBody(controller, this.maxHeldBytes, this.nowMs);
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
