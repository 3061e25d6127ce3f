import { type ChildProcess, fork } from 'node:child_process';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { getHeapStatistics } from 'node:v8';
import { BundleUnavailableError } from '../../bundle/errors.ts';
import type { Activity, Fetched, FetchRequest, UnpackRequest } from './fetch-bundle.ts';
import { type FetchJob, type FromFetcher, fromFetcher, receiveError, type ToFetcher } from './fetch-messages.ts';

/** Fetches and unpacks. Throws the errors of fetch-bundle.ts, and the signal's reason. */
export type Fetcher = {
  fetch(request: FetchRequest, activity: Activity): Promise<Fetched>;
  unpack(request: UnpackRequest, activity: Pick<Activity, 'signal'>): Promise<void>;
};

const IDLE_MS = 10_000;

/** The largest manifest is parsed in seconds. A process that says nothing for this long is stuck. */
const SILENCE_MS = 60_000;
const MIB = 1024 ** 2;

type Pending = {
  onProgress: Activity['onProgress'];
  end(result: Fetched | undefined): void;
  fail(error: unknown): void;
};

let running: FetchProcess | undefined;
let lastId = 0;

/**
 * Everything that reads bytes from outside runs in a process of its own, one for all sites of this process: what it can't
 * survive (an error that nothing catches, memory, an endless loop) ends an attempt, which is repeated after a pause, and
 * never what serves. A handler of `uncaughtException` would go on in an unknown state, and neither that nor a thread
 * survives an abort of V8. It starts with the first job and ends when it is idle, or with this process.
 */
export const fetchProcess: Fetcher = {
  async fetch(request, { signal, onProgress }) {
    const fetched = await run({ kind: 'fetch', request }, signal, onProgress);
    if (fetched === undefined) throw new Error('a fetch got the result of another job');
    return fetched;
  },
  async unpack(request, { signal }) {
    await run({ kind: 'unpack', request }, signal);
  },
};

async function run(
  job: FetchJob,
  signal: AbortSignal,
  onProgress: Activity['onProgress'] = () => undefined,
): Promise<Fetched | undefined> {
  signal.throwIfAborted();
  if (running === undefined) {
    const started: FetchProcess = new FetchProcess(() => {
      if (running === started) running = undefined;
    });
    running = started;
  }
  return await running.run(job, signal, onProgress);
}

class FetchProcess {
  readonly #child: ChildProcess;
  readonly #onEnd: () => void;
  readonly #pending = new Map<number, Pending>();
  #idle: NodeJS.Timeout | undefined;
  #stuck: NodeJS.Timeout | undefined;

  /** @param onEnd called as soon as it takes no more jobs */
  constructor(onEnd: () => void) {
    this.#onEnd = onEnd;
    const program = fileURLToPath(new URL(`./process${extname(import.meta.url)}`, import.meta.url));
    // A bundle whose manifest takes more memory than this could not be opened here either, beside what is served.
    const heapMib = Math.floor(getHeapStatistics().heap_size_limit / 2 / MIB);
    this.#child = fork(program, {
      execArgv: [...process.execArgv, `--max-old-space-size=${heapMib}`],
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    // A process that is stuck doesn't notice that this one ends.
    const kill = (): void => this.#kill();
    process.once('exit', kill);
    const end = (why: string): void => {
      process.off('exit', kill);
      clearTimeout(this.#stuck);
      onEnd();
      for (const { fail } of this.#pending.values()) {
        fail(new BundleUnavailableError(`the process that fetches bundles has ended (${why})`, 'soon'));
      }
    };
    this.#child.on('exit', (code, signal) => end(signal ?? `exit ${code}`));
    this.#child.on('error', (error) => end(error.message));
    this.#child.on('message', (message) => this.#receive(fromFetcher.parse(message)));
  }

  async run(job: FetchJob, signal: AbortSignal, onProgress: Activity['onProgress']): Promise<Fetched | undefined> {
    clearTimeout(this.#idle);
    this.#expectLife();
    this.#child.ref();
    this.#child.channel?.ref();
    const id = ++lastId;
    const abort = (): void => this.#send({ id, abort: true });
    signal.addEventListener('abort', abort);
    try {
      return await new Promise((end, fail) => {
        this.#pending.set(id, { onProgress, end, fail });
        this.#send({ id, job });
      });
    } catch (error) {
      signal.throwIfAborted();
      throw error;
    } finally {
      signal.removeEventListener('abort', abort);
      this.#pending.delete(id);
      if (this.#pending.size === 0) this.#rest();
    }
  }

  /** A process that can't be reached ends, and its jobs with it. */
  #send(message: ToFetcher): void {
    this.#child.send(message, () => undefined);
  }

  #receive(message: FromFetcher): void {
    this.#expectLife();
    if ('isAlive' in message) return;
    const pending = this.#pending.get(message.id);
    if ('progress' in message) pending?.onProgress(message.progress.receivedBytes, message.progress.totalBytes);
    else if ('error' in message) pending?.fail(receiveError(message.error));
    else pending?.end(message.result);
  }

  #expectLife(): void {
    clearTimeout(this.#stuck);
    this.#stuck = setTimeout(() => this.#kill(), SILENCE_MS).unref();
  }

  #rest(): void {
    this.#child.unref();
    this.#child.channel?.unref();
    this.#idle = setTimeout(() => this.#kill(), IDLE_MS).unref();
  }

  #kill(): void {
    this.#onEnd();
    this.#child.kill('SIGKILL');
  }
}
