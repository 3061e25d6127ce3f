import type { ChildProcess } from 'node:child_process';
import { z } from 'zod';

/** What a process and its parent send each other; a notice or a reply is about a running job. */
export type JobTypes = { job: unknown; result: unknown; notice: unknown; reply: unknown };

type OfJob<Message> = { id: number } & Message;
export type ToProgram<T extends JobTypes> = OfJob<{ job: T['job'] } | { abort: true } | { reply: T['reply'] }>;
/** A notice about no job has the id 0. */
export type FromProgram<T extends JobTypes> = OfJob<{ result: T['result'] } | { notice: T['notice'] }>;

type RunningJob<Types extends JobTypes, Context> = {
  context: Context;
  reply(reply: Types['reply']): void;
  end(result: Types['result']): void;
  fail(error: unknown): void;
};

type Options<Types extends JobTypes, Context> = {
  /** A process without jobs ends after this time. */
  idleMs: number;
  /** `job` is undefined if it has ended, and for a notice about no job. */
  onNotice(notice: Types['notice'], job: RunningJob<Types, Context> | undefined): void;
  /** The error of jobs whose process ended. */
  endedError(why: string): Error;
  onEnd(): void;
};

/**
 * A child process that runs jobs, several at a time: its program calls `serveJobs`. Jobs keep this process alive, the
 * child doesn't. `Context` is what this side keeps of a job.
 */
export class JobProcess<Types extends JobTypes, Context> {
  readonly #child: ChildProcess;
  readonly #options: Options<Types, Context>;
  readonly #jobs = new Map<number, RunningJob<Types, Context>>();
  #lastId = 0;
  #takesJobs = true;
  #idle: NodeJS.Timeout | undefined;

  /** @param child has a channel for messages (`ipc`) */
  constructor(child: ChildProcess, options: Options<Types, Context>) {
    this.#child = child;
    this.#options = options;
    // Both sides are of the same build.
    const messages = z.custom<FromProgram<Types>>();
    child.on('message', (message) => this.#receive(messages.parse(message)));
    child.on('exit', (code, signal) => this.#end(signal ?? `exit ${code}`));
    child.on('error', (error) => this.#end(error.message));
    this.#rest();
  }

  get takesJobs(): boolean {
    return this.#takesJobs;
  }

  /** Jobs that it hasn't finished. */
  get load(): number {
    return this.#jobs.size;
  }

  /** Resolves with the program's result, also after an abort: what that means is the program's decision. */
  async run(job: Types['job'], context: Context, signal?: AbortSignal): Promise<Types['result']> {
    signal?.throwIfAborted();
    clearTimeout(this.#idle);
    this.#child.ref();
    this.#child.channel?.ref();
    const id = ++this.#lastId;
    const abort = (): void => this.#send({ id, abort: true });
    signal?.addEventListener('abort', abort);
    try {
      return await new Promise((end, fail) => {
        const reply = (given: Types['reply']): void => this.#send({ id, reply: given });
        this.#jobs.set(id, { context, reply, end, fail });
        this.#send({ id, job });
      });
    } finally {
      signal?.removeEventListener('abort', abort);
      this.#jobs.delete(id);
      this.#rest();
    }
  }

  /** It gets no more jobs, and is killed after its last one. */
  retire(): void {
    this.#takesJobs = false;
    this.#rest();
  }

  kill(): void {
    this.#takesJobs = false;
    this.#child.kill('SIGKILL');
  }

  /** A process that can't be reached ends, and its jobs with it. */
  #send(message: ToProgram<Types>): void {
    this.#child.send(message, () => undefined);
  }

  #receive(message: FromProgram<Types>): void {
    const job = this.#jobs.get(message.id);
    if ('notice' in message) this.#options.onNotice(message.notice, job);
    else job?.end(message.result);
  }

  #rest(): void {
    if (this.#jobs.size > 0) return;
    this.#child.unref();
    this.#child.channel?.unref();
    if (!this.#takesJobs) this.kill();
    else this.#idle = setTimeout(() => this.kill(), this.#options.idleMs).unref();
  }

  #end(why: string): void {
    this.#takesJobs = false;
    this.#options.onEnd();
    for (const { fail } of this.#jobs.values()) fail(this.#options.endedError(why));
  }
}
