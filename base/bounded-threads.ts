import pLimit from 'p-limit';
import type { Piscina } from 'piscina';
import { errorCode } from './error-code.ts';

/** Thrown for work that took more time or memory than it may. */
export class WorkExceeded extends Error {
  override readonly name = 'WorkExceeded';
}

/** Thrown for work that wasn't begun, because too much other work waits. */
export class WorkRefused extends Error {
  override readonly name = 'WorkRefused';
}

/** What a thread's module exports: functions of one argument, and `begin`, which does nothing. */
type Tasks = { begin(): void };

type Options = {
  /** The URL of the tasks' module. */
  module: string;
  /** The longest that a task may run. Its thread's start doesn't count: that depends on the machine alone. */
  limitMs: number;
  /** Tasks that run at once, and those that may wait for them. */
  threads?: number;
  maxWaiting?: number;
  memoryMiB?: number;
};

export type BoundedThreads<Module extends Tasks> = {
  /**
   * Runs a function of the module in a thread. Calls with the same key share its result while it runs. Throws the
   * function's error, `WorkExceeded` or `WorkRefused`.
   */
  run<Name extends Extract<keyof Module, string>>(
    name: Name,
    input: Module[Name] extends (input: infer Input) => unknown ? Input : never,
    key: string,
  ): Promise<Module[Name] extends (input: never) => infer Result ? Awaited<Result> : never>;
};

/** Threads end after this time without a task. */
const IDLE_MS = 10_000;

/**
 * Runs work whose duration depends on input from outside in threads, so that neither its duration nor its end stops the
 * process. A thread whose task takes too long is terminated.
 */
export function createBoundedThreads<Module extends Tasks>(options: Options): BoundedThreads<Module> {
  const { limitMs, threads = 1, maxWaiting = 16 } = options;
  const turn = pLimit(threads);
  const shared = new Map<string, ReturnType<Piscina['run']>>();
  let opened: Promise<Piscina> | undefined;

  async function compute(name: string, input: unknown): ReturnType<Piscina['run']> {
    opened ??= openPool(options);
    const pool = await opened;
    await pool.run(undefined, { name: 'begin' });
    try {
      return await pool.run(input, { name, signal: AbortSignal.timeout(limitMs) });
    } catch (error) {
      const isOver = error instanceof Error && error.name === 'AbortError';
      if (!isOver && errorCode(error) !== 'ERR_WORKER_OUT_OF_MEMORY') throw error;
      throw new WorkExceeded(`${name} took too long or too much memory`, { cause: error });
    }
  }

  return {
    async run(name, input, key) {
      const id = `${name} ${key}`;
      const running = shared.get(id);
      if (running !== undefined) return await running;
      if (turn.pendingCount >= maxWaiting) throw new WorkRefused(`${name} would have to wait for too much other work`);
      const work = turn(() => compute(name, input)).finally(() => shared.delete(id));
      shared.set(id, work);
      return await work;
    },
  };
}

/** Loads the library only now: most processes never need it. */
async function openPool({ module, threads = 1, memoryMiB = 256 }: Options): Promise<Piscina> {
  const { Piscina } = await import('piscina');
  return new Piscina({
    filename: module,
    minThreads: 0,
    maxThreads: threads,
    idleTimeout: IDLE_MS,
    resourceLimits: { maxOldGenerationSizeMb: memoryMiB },
  });
}
