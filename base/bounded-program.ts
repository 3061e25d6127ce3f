import { fork } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { errorText } from './error-code.ts';
import { JobProcess } from './job-process.ts';
import { serveJobs } from './job-program.ts';
import { signalGroup } from './process-group.ts';

/** The jobs of a program, what they return, and its notices about a running job. */
export type BoundedWork = { job: unknown; result: unknown; notice: unknown };

type Messages<Work extends BoundedWork> = {
  job: Work['job'];
  result: { done: Work['result'] } | { error: string };
  notice: Work['notice'];
  reply: never;
};

type Options<Work extends BoundedWork> = {
  program: URL;
  heapMb: number;
  /** The folder for temporary files of the program and its children. Default: this process's. */
  temporaryFolder?: string;
  onNotice?: (notice: Work['notice']) => void;
  /** The error of a job that failed, or whose process ended or hung. */
  failed(why: string): Error;
};

export type BoundedProgram<Work extends BoundedWork> = {
  /** Throws what `failed` makes, and the signal's reason. */
  run(job: Work['job'], withinMs: number): Promise<Work['result']>;
  /** Ends its processes. */
  close(): void;
};

/** It ends when it is closed. */
const IDLE_MS = 86_400_000;
const MAX_ERROR_CHARACTERS = 2_000;

/** What Node and the system's loader need. No secret of this process is among it. */
function environment(temporaryFolder: string | undefined): NodeJS.ProcessEnv {
  const { PATH, TMPDIR, NODE_OPTIONS, LD_LIBRARY_PATH } = { ...process.env };
  return { PATH, TMPDIR: temporaryFolder ?? TMPDIR, NODE_OPTIONS, LD_LIBRARY_PATH };
}

/**
 * Starts a program of `serveBoundedJobs` for foreign work on foreign documents: it may crash, hang or take all memory,
 * without harm to this process. All its processes end with the signal, with `close` and with this process.
 */
export function startBoundedProgram<Work extends BoundedWork>(
  signal: AbortSignal,
  { program, heapMb, temporaryFolder, onNotice = () => undefined, failed }: Options<Work>,
): BoundedProgram<Work> {
  const child = fork(program, {
    cwd: fileURLToPath(new URL('..', import.meta.url)),
    env: environment(temporaryFolder),
    execArgv: [...process.execArgv, `--max-old-space-size=${heapMb}`],
    serialization: 'advanced',
    // It leads a group, so that what it starts ends with it.
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  let stderr = '';
  child.stderr?.on('data', (bytes: Buffer) => {
    stderr = (stderr + bytes.toString()).slice(-MAX_ERROR_CHARACTERS);
  });
  let lateAfterMs: number | undefined;
  const close = (): void => signalGroup(child, 'SIGKILL');
  process.once('exit', close);
  const running = new JobProcess<Messages<Work>, undefined>(child, {
    idleMs: IDLE_MS,
    onNotice,
    endedError: (why) =>
      failed(
        lateAfterMs === undefined
          ? `its process ended (${why})${lastLine(stderr)}`
          : `no result within ${lateAfterMs / 1000} s`,
      ),
    onEnd: () => process.off('exit', close),
  });
  return {
    async run(job, withinMs) {
      signal.throwIfAborted();
      signal.addEventListener('abort', close);
      const timer = setTimeout(() => {
        lateAfterMs = withinMs;
        close();
      }, withinMs);
      try {
        const result = await running.run(job, undefined);
        if ('error' in result) throw failed(result.error);
        return result.done;
      } catch (error) {
        signal.throwIfAborted();
        throw error;
      } finally {
        clearTimeout(timer);
        signal.removeEventListener('abort', close);
      }
    },
    close,
  };
}

/** Runs the jobs of `startBoundedProgram` in this process, until its parent ends. */
export async function serveBoundedJobs<Work extends BoundedWork>(
  answer: (
    job: Work['job'],
    context: { signal: AbortSignal; notify(notice: Work['notice']): void },
  ) => Promise<Work['result']>,
): Promise<void> {
  // If memory is short, the system should end this process, not its parent. Only Linux has it.
  await writeFile('/proc/self/oom_score_adj', '1000').catch(() => undefined);
  serveJobs<Messages<Work>>(async (job, context) => {
    try {
      return { done: await answer(job, context) };
    } catch (error) {
      return { error: errorText(error) };
    }
  });
}

function lastLine(text: string): string {
  const line = text.trim().split('\n').at(-1) ?? '';
  return line === '' ? '' : `: ${line}`;
}
