import { extname } from 'node:path';
import pLimit from 'p-limit';
import { type End, type Task, TaskProcess } from './task-process.ts';

/** Thrown if a task ended its process also when it was alone there. */
export class TaskDied extends Error {
  override readonly name = 'TaskDied';
}

export type PoolOptions = {
  maxProcesses: number;
  /** One process starts at once and stays: the first document of an export doesn't wait for its start. */
  keepsOne?: boolean | undefined;
  /** What the processes run. */
  program?: URL | undefined;
  /** A process without a result for this long is ended. */
  patienceMs?: number | undefined;
};

/** A batch is sent at once: messages cost about as much as small documents. */
const BATCH_TASKS = 16;
const BATCH_BYTES = 512 * 1024;
/** Batches of a process: while it works on one, the next is on its way. */
const BATCHES_AHEAD = 2;
/** Longer than any batch, also on a busy machine. What takes longer is repeated alone, with more time. */
const PATIENCE_MS = 30_000;
const ALONE_FACTOR = 4;
/** After this many kills from outside without a result between them, the system lacks something, such as memory. */
const MAX_KILLS = 60;

const PROGRAM = new URL(`./process${extname(import.meta.url)}`, import.meta.url);

/**
 * Runs tasks in child processes, which may end without harm to this one: parsers of foreign bytes can exhaust the stack,
 * the memory or the time, and nothing in the same process could stop them. If a process ends by itself, each of its tasks
 * is repeated alone in a new one. A kill from outside says nothing about the tasks; they are repeated together.
 */
export class TaskPool {
  readonly #options: Required<{ [Key in keyof PoolOptions]: NonNullable<PoolOptions[Key]> }>;
  readonly #queue: Task[] = [];
  readonly #processes = new Set<TaskProcess>();
  readonly #oneByOne = pLimit(1);
  #kills = 0;

  constructor({ maxProcesses, keepsOne = false, program = PROGRAM, patienceMs = PATIENCE_MS }: PoolOptions) {
    this.#options = { maxProcesses, keepsOne, program, patienceMs };
    if (keepsOne) this.#startShared();
  }

  /** Rejects with `TaskDied`, with the task's own error, or if processes can't be started or are killed all the time. */
  run(task: Pick<Task, 'name' | 'input' | 'sizeBytes'>): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.#queue.push({ ...task, resolve, reject });
      this.#sendBatches();
    });
  }

  #sendBatches(): void {
    while (this.#queue.length > 0) {
      const free = this.#freeProcess();
      if (free === undefined) return;
      free.run(nextBatch(this.#queue));
    }
  }

  #freeProcess(): TaskProcess | undefined {
    const open = [...this.#processes].filter(({ isOpen }) => isOpen);
    const [least] = open.sort((one, other) => one.load - other.load);
    const isFull = this.#processes.size >= this.#options.maxProcesses;
    if (least !== undefined && least.load < (isFull ? BATCHES_AHEAD : 1)) return least;
    if (isFull) return undefined;
    return this.#startShared();
  }

  /** Starts a process that takes any tasks. */
  #startShared(): TaskProcess {
    const { patienceMs, keepsOne } = this.#options;
    const isKept = keepsOne && this.#processes.size === 0;
    const started = this.#start({ patienceMs, isKept }, ({ how, tasks }) => {
      if (how === 'by-itself') for (const task of tasks) void this.#oneByOne(() => this.#runAlone(task));
      else this.#queue.unshift(...tasks);
      this.#sendBatches();
    });
    this.#processes.add(started);
    return started;
  }

  #start(options: { patienceMs: number; isKept?: boolean }, onEnd: (end: End) => void): TaskProcess {
    const started = new TaskProcess(
      { program: this.#options.program, ...options },
      {
        onResult: () => {
          this.#kills = 0;
          this.#sendBatches();
        },
        onEnd: (end) => {
          this.#processes.delete(started);
          if (end.how === 'killed' && end.tasks.length > 0) this.#kills += 1;
          if (end.how === 'not-started' || this.#kills > MAX_KILLS) this.#fail(end);
          else onEnd(end);
        },
      },
    );
    return started;
  }

  #fail({ how, reason, tasks }: End): void {
    const what = how === 'killed' ? `were killed ${this.#kills} times in a row` : 'can not be started';
    const error = new Error(`Processes that read documents ${what}: ${reason}`);
    this.#kills = 0;
    for (const { reject } of [...tasks, ...this.#queue.splice(0)]) reject(error);
  }

  /** Resolves when the task has its result or its error. */
  async #runAlone(task: Task): Promise<void> {
    let isOver = false;
    while (!isOver) {
      await new Promise<void>((ended) => {
        const settle = (): void => {
          isOver = true;
          alone.close();
          ended();
        };
        const alone = this.#start({ patienceMs: this.#options.patienceMs * ALONE_FACTOR }, ({ how, reason, tasks }) => {
          if (how === 'by-itself' && tasks.length > 0) own.reject(new TaskDied(reason));
          ended();
        });
        const own: Task = {
          ...task,
          resolve(result) {
            task.resolve(result);
            settle();
          },
          reject(error) {
            task.reject(error);
            settle();
          },
        };
        alone.run([own]);
      });
    }
  }
}

/** Takes the first tasks off the queue, at least one. */
function nextBatch(queue: Task[]): Task[] {
  let sizeBytes = 0;
  const end = queue.findIndex((task, index) => {
    sizeBytes += task.sizeBytes;
    return index > 0 && (index === BATCH_TASKS || sizeBytes > BATCH_BYTES);
  });
  return queue.splice(0, end < 0 ? queue.length : end);
}
