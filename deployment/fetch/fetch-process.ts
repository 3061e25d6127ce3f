import { fork } from 'node:child_process';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { getHeapStatistics } from 'node:v8';
import { JobProcess } from '../../base/job-process.ts';
import { BundleUnavailableError } from '../../bundle/errors.ts';
import type { Activity, Fetched, FetchRequest, UnpackRequest } from './fetch-bundle.ts';
import { type FetchJob, type FetchWork, receiveError } from './fetch-messages.ts';

/** Fetches and unpacks. Throws the errors of fetch-bundle.ts, and the signal's reason. */
export type Fetcher = {
  fetch(request: FetchRequest, activity: Activity): Promise<Fetched>;
  unpack(request: UnpackRequest, activity: Pick<Activity, 'signal'>): Promise<void>;
};

const IDLE_MS = 10_000;

/** The largest manifest is parsed in seconds. A process that says nothing for this long is stuck. */
const SILENCE_MS = 60_000;
const MIB = 1024 ** 2;

type FetchProcess = JobProcess<FetchWork, Activity['onProgress']>;

let running: FetchProcess | undefined;

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
  if (running?.takesJobs !== true) running = startProcess();
  try {
    const result = await running.run(job, onProgress, signal);
    if ('error' in result) throw receiveError(result.error);
    return result.fetched;
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  }
}

function startProcess(): FetchProcess {
  const program = fileURLToPath(new URL(`./process${extname(import.meta.url)}`, import.meta.url));
  // A bundle whose manifest takes more memory than this could not be opened here either, beside what is served.
  const heapMib = Math.floor(getHeapStatistics().heap_size_limit / 2 / MIB);
  const child = fork(program, {
    execArgv: [...process.execArgv, `--max-old-space-size=${heapMib}`],
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const kill = (): void => started.kill();
  // A process that is stuck doesn't notice that this one ends.
  process.once('exit', kill);
  const silence = setTimeout(kill, SILENCE_MS).unref();
  const started: FetchProcess = new JobProcess(child, {
    idleMs: IDLE_MS,
    onNotice(notice, job) {
      silence.refresh();
      if ('receivedBytes' in notice) job?.context(notice.receivedBytes, notice.totalBytes);
    },
    endedError: (why) => new BundleUnavailableError(`the process that fetches bundles has ended (${why})`, 'soon'),
    onEnd() {
      process.off('exit', kill);
      clearTimeout(silence);
    },
  });
  return started;
}
