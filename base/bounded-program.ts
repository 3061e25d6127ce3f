import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { JobProcess, type JobTypes } from './job-process.ts';
import { signalGroup } from './process-group.ts';

type Options<Types extends JobTypes> = {
  program: URL;
  heapMb: number;
  /** Where it and its children keep temporary files; default: as this process. */
  temporaryFolder?: string;
  onNotice?: (notice: Types['notice']) => void;
  /** The error of a job whose process ended, hung or said why it failed. */
  failed(why: string): Error;
};

export type BoundedProgram<Types extends JobTypes> = {
  /** Throws what `failed` makes, and the signal's reason. */
  run(job: Types['job'], withinMs: number): Promise<Exclude<Types['result'], { error: string }>>;
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
export function startBoundedProgram<Types extends JobTypes>(
  signal: AbortSignal,
  { program, heapMb, temporaryFolder, onNotice = () => undefined, failed }: Options<Types>,
): BoundedProgram<Types> {
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
  const running = new JobProcess<Types, undefined>(child, {
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
        if (isError(result)) throw failed(result.error);
        return result as Exclude<Types['result'], { error: string }>;
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

function isError(result: unknown): result is { error: string } {
  return typeof result === 'object' && result !== null && 'error' in result;
}

function lastLine(text: string): string {
  const line = text.trim().split('\n').at(-1) ?? '';
  return line === '' ? '' : `: ${line}`;
}
