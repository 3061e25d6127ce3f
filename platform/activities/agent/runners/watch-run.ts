import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ContainedEnd, type ContainedRun, type EndedBy, MACHINERY_TIMEOUT_MS } from './contained-run.ts';
import { readRunReport } from './result-channel.ts';

/** Enough for a message of bubblewrap or git. The agent may write there too. */
const STDERR_BYTES = 2048;

/** How long to wait for output left in a pipe after its writers have ended. */
const LAST_OUTPUT_MS = 1000;

/** The same for the report. It may be the end of a pack, which the run needs, so allow for a busy machine. */
const LAST_REPORT_MS = 5000;

type Watched = {
  child: ChildProcess;
  run: ContainedRun;
  packFile: string;
  /** Kills all processes of the run. Called at most once from here. */
  kill: () => void;
  /** Runs after the child has ended, to kill what is left. */
  settle?: () => Promise<void>;
  /** Waits for output left in a pipe after its writers have ended. */
  wait?: (ms: number) => Promise<void>;
};

const waitUnnoticed = (ms: number): Promise<void> => sleep(ms, undefined, { ref: false });

/**
 * Watches a run: feeds the prompt, passes the output on, reads the report, and kills the run if time, output or the
 * caller requires it. Resolves once the child has ended; rejects only if it couldn't be started.
 */
export async function watchRun(watched: Watched): Promise<ContainedEnd> {
  const { child, run, packFile, kill, settle, wait = waitUnnoticed } = watched;
  let endedBy: EndedBy | null = null;
  const end = (cause: EndedBy): void => {
    if (endedBy !== null || child.exitCode !== null || child.signalCode !== null) return;
    endedBy = cause;
    kill();
  };
  let timer = setTimeout(() => end('stuck'), MACHINERY_TIMEOUT_MS);
  const restart = (cause: EndedBy, ms: number): void => {
    clearTimeout(timer);
    timer = setTimeout(() => end(cause), ms);
  };
  const abort = (): void => end('abort');
  run.signal.addEventListener('abort', abort);
  if (run.signal.aborted) abort();
  try {
    // `once` would reject for a signal that can't be delivered.
    const exited = new Promise((resolve) => child.once('exit', resolve));
    const printed = passOutput(child, run, () => end('output'));
    const stderr = readStart(child.stderr);
    // An agent may close its input unread.
    child.stdin?.on('error', () => {});
    child.stdin?.end(run.stdin);
    const channel = channelOf(child);
    const report = readRunReport(channel, {
      packFile,
      changeLimitBytes: run.limits.changeLimitBytes,
      onReady: () => restart('time', run.limits.timeoutMs),
      onExit: () => restart('stuck', MACHINERY_TIMEOUT_MS),
    });
    // If the pack can't be written here, the child would wait for a reader forever.
    report.catch(() => end('stuck'));
    await exited;
    await settle?.();
    // The writers have ended; only a process that escaped a run without a sandbox can hold the pipe open.
    await Promise.race([printed, wait(LAST_OUTPUT_MS)]);
    child.stdout?.destroy();
    const waitMs = endedBy === null ? LAST_REPORT_MS : LAST_OUTPUT_MS;
    await Promise.race([report, wait(waitMs)]);
    channel.destroy();
    child.stderr?.destroy();
    return { report: await report, endedBy, stderr: stderr() };
  } finally {
    clearTimeout(timer);
    run.signal.removeEventListener('abort', abort);
  }
}

function channelOf(child: ChildProcess): Readable {
  const channel = child.stdio[3];
  if (!(channel instanceof Readable)) throw new Error('The run has no channel for its report.');
  return channel;
}

/** Passes output on up to the limit. Resolves at its end. */
async function passOutput(child: ChildProcess, run: ContainedRun, onTooMuch: () => void): Promise<void> {
  if (child.stdout === null) return;
  let leftBytes = run.limits.outputLimitBytes;
  child.stdout.on('data', (bytes: Buffer) => {
    if (leftBytes > 0) run.log(bytes.subarray(0, leftBytes));
    leftBytes -= bytes.length;
    if (leftBytes < 0) onTooMuch();
  });
  await once(child.stdout, 'close');
}

/** Reads a stream to its end and returns its start. */
function readStart(stream: Readable | null): () => string {
  const kept: Buffer[] = [];
  let leftBytes = STDERR_BYTES;
  stream?.on('data', (bytes: Buffer) => {
    if (leftBytes > 0) kept.push(bytes.subarray(0, leftBytes));
    leftBytes -= bytes.length;
  });
  return () => Buffer.concat(kept).toString('utf8').trim();
}
