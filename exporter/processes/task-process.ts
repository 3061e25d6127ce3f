import { type ChildProcess, fork } from 'node:child_process';
import { Socket } from 'node:net';
import { totalmem } from 'node:os';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import type { TaskName } from './tasks.ts';

/** A task for a process, and who waits for it. */
export type Task = {
  name: TaskName;
  input: unknown;
  sizeBytes: number;
  resolve(result: unknown): void;
  reject(error: Error): void;
};

/**
 * How a process ended with the tasks that it left: by itself, such as without memory or time, killed by someone or the
 * system, or before it could begin.
 */
export type End = { how: 'by-itself' | 'killed' | 'not-started'; reason: string; tasks: Task[] };

type Events = { onResult: () => void; onEnd: (end: End) => void };

const message = z.union([z.literal('ready'), z.array(z.object({ result: z.unknown(), error: z.string().optional() }))]);
type Results = Exclude<z.infer<typeof message>, 'ready'>;

/** Signals that a process gets for its own faults. All others come from outside. */
const OWN_SIGNALS: ReadonlySet<NodeJS.Signals> = new Set<NodeJS.Signals>([
  ...(['SIGABRT', 'SIGBUS', 'SIGFPE', 'SIGILL', 'SIGSEGV', 'SIGSYS', 'SIGTRAP'] as const),
]);

/** What V8 or Node says before it ends a process. */
const FATAL = /(?:FATAL ERROR|^\w*Error): (.*)/m;
const MAX_ERROR_CHARACTERS = 4_000;

const MIB = 1024 * 1024;
/** More than a document of 16 MiB needs, and so little that V8 ends the process before the system kills one. */
const HEAP_MB = Math.min(1024, Math.round(Math.min(totalmem(), process.constrainedMemory() || totalmem()) / 4 / MIB));

/** A process without work ends after this time. */
const IDLE_MS = 10_000;

/**
 * A process that runs batches of tasks in their order. Without a result for `patienceMs` it is ended. With `isKept` it waits
 * for work until this process ends.
 */
export class TaskProcess {
  readonly #child: ChildProcess;
  readonly #patienceMs: number;
  readonly #isKept: boolean;
  readonly #batches: Task[][] = [];
  #timer: NodeJS.Timeout | undefined;
  #isReady = false;
  #isLate = false;
  #isClosed = false;
  #stderr = '';

  constructor(
    { program, patienceMs, isKept = false }: { program: URL; patienceMs: number; isKept?: boolean },
    { onResult, onEnd }: Events,
  ) {
    this.#patienceMs = patienceMs;
    this.#isKept = isKept;
    this.#child = fork(program, {
      // Options of a parent that runs from source have relative paths.
      cwd: fileURLToPath(new URL('../..', import.meta.url)),
      execArgv: [...process.execArgv, `--max-old-space-size=${HEAP_MB}`],
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    });
    const { stderr } = this.#child;
    // Only open tasks keep this process alive.
    if (stderr instanceof Socket) stderr.unref();
    stderr?.on('data', (chunk: Buffer) => {
      this.#stderr = (this.#stderr + chunk.toString()).slice(0, MAX_ERROR_CHARACTERS);
    });
    this.#child.on('message', (received) => {
      const read = message.parse(received);
      if (read === 'ready') this.#begin();
      else {
        this.#settle(read);
        onResult();
      }
    });
    // `close` comes with all of stderr, but not after `disconnect`.
    this.#child.on('exit', (code, signal) => this.#isClosed && onEnd(this.#end(code, signal)));
    this.#child.on('close', (code, signal) => this.#isClosed || onEnd(this.#end(code, signal)));
    this.#child.on('error', (error) => {
      // Otherwise it has ended, or does so now, and `close` follows.
      if (this.#child.pid === undefined) onEnd({ ...this.#end(null, null), reason: error.message });
    });
  }

  /** Whether it takes batches. */
  get isOpen(): boolean {
    return this.#child.connected;
  }

  /** Batches that it hasn't finished. */
  get load(): number {
    return this.#batches.length;
  }

  run(batch: Task[]): void {
    this.#child.ref();
    this.#child.channel?.ref();
    this.#batches.push(batch);
    if (this.#isReady) this.#send(batch);
    if (this.#isReady && this.load === 1) this.#wait();
  }

  /** Lets it end. */
  close(): void {
    if (!this.isOpen) return;
    this.#isClosed = true;
    this.#child.disconnect();
  }

  /** Batches are sent only now: if it ends before, that says nothing about them. */
  #begin(): void {
    this.#isReady = true;
    for (const batch of this.#batches) this.#send(batch);
    this.#wait();
  }

  #send(batch: readonly Task[]): void {
    // If it can't be sent, `close` follows.
    const ignore = (): void => undefined;
    this.#child.send(
      batch.map(({ name, input }) => ({ name, input })),
      ignore,
    );
  }

  #settle(results: Results): void {
    const batch = this.#batches.shift() ?? [];
    for (const [index, task] of batch.entries()) {
      const { result, error } = results[index] ?? { error: 'it has no result' };
      if (error === undefined) task.resolve(result);
      else task.reject(new Error(error));
    }
    this.#wait();
  }

  /** Waits for the next result, or without work for the end. */
  #wait(): void {
    clearTimeout(this.#timer);
    if (this.load === 0) {
      this.#child.unref();
      this.#child.channel?.unref();
      if (!this.#isKept) this.#timer = setTimeout(() => this.close(), IDLE_MS).unref();
      return;
    }
    this.#timer = setTimeout(() => {
      this.#isLate = true;
      this.#child.kill('SIGKILL');
    }, this.#patienceMs).unref();
  }

  #end(code: number | null, signal: NodeJS.Signals | null): End {
    clearTimeout(this.#timer);
    const tasks = this.#batches.flat();
    if (this.#isLate) return { how: 'by-itself', reason: `no result within ${this.#patienceMs / 1000} s`, tasks };
    const reason = FATAL.exec(this.#stderr)?.[1] ?? signal ?? `exit code ${code}`;
    if (signal !== null && !OWN_SIGNALS.has(signal)) return { how: 'killed', reason, tasks };
    return { how: this.#isReady ? 'by-itself' : 'not-started', reason, tasks };
  }
}
