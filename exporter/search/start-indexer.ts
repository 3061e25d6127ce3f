import { fork } from 'node:child_process';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { JobProcess } from '../../base/job-process.ts';
import { signalGroup } from '../../base/process-group.ts';
import type { IndexWork, SearchLanguage } from './index-messages.ts';

/** Thrown if no index can be made. The export goes on without it. */
export class IndexingFailed extends Error {
  override readonly name = 'IndexingFailed';
}

export type Indexer = {
  /** Adds a page. `path` is the one in the bundle. */
  add(page: { path: string; html: string }): Promise<void>;
  /** Writes all files of the search into a folder, at their paths in the bundle. The language with the most pages is first. */
  finish(folder: string): Promise<SearchLanguage[]>;
  /** Ends its processes. */
  close(): void;
};

export type IndexerOptions = {
  program?: URL;
  /** A page takes some milliseconds. */
  pageMs?: number;
  /** An index of 10,000 pages takes half a minute. */
  finishMs?: number;
};

const PROGRAM = new URL(`./process${extname(import.meta.url)}`, import.meta.url);
const HEAP_MB = 1024;
/** It ends when it is closed. */
const IDLE_MS = 86_400_000;
const MAX_ERROR_CHARACTERS = 2_000;
/** What Node and the system's loader need. No secret of this process is among it. */
function environment(): NodeJS.ProcessEnv {
  const { PATH, TMPDIR, NODE_OPTIONS, LD_LIBRARY_PATH } = { ...process.env };
  return { PATH, TMPDIR, NODE_OPTIONS, LD_LIBRARY_PATH };
}

/**
 * Starts a process that makes a search index with Pagefind. That is foreign work on foreign documents: it may crash, hang
 * or take all memory, without harm to this process. Its methods throw `IndexingFailed`, and the signal's reason.
 */
export function startIndexer(
  signal: AbortSignal,
  { program = PROGRAM, pageMs = 60_000, finishMs = 30 * 60_000 }: IndexerOptions = {},
): Indexer {
  const child = fork(program, {
    cwd: fileURLToPath(new URL('../..', import.meta.url)),
    env: environment(),
    execArgv: [...process.execArgv, `--max-old-space-size=${HEAP_MB}`],
    serialization: 'advanced',
    // It leads a group, so that Pagefind's own program ends with it.
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
  const running = new JobProcess<IndexWork, undefined>(child, {
    idleMs: IDLE_MS,
    onNotice: () => undefined,
    endedError: (why) =>
      new IndexingFailed(
        lateAfterMs === undefined
          ? `its process ended (${why})${lastLine(stderr)}`
          : `no result within ${lateAfterMs / 1000} s`,
      ),
    onEnd: () => process.off('exit', close),
  });

  async function run(
    job: IndexWork['job'],
    withinMs: number,
  ): Promise<Exclude<IndexWork['result'], { error: string }>> {
    signal.throwIfAborted();
    signal.addEventListener('abort', close);
    const timer = setTimeout(() => {
      lateAfterMs = withinMs;
      close();
    }, withinMs);
    try {
      const result = await running.run(job, undefined);
      if ('error' in result) throw new IndexingFailed(result.error);
      return result;
    } catch (error) {
      signal.throwIfAborted();
      throw error;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', close);
    }
  }

  return {
    async add(page) {
      await run({ page }, pageMs);
    },
    async finish(folder) {
      const result = await run({ finish: { folder } }, finishMs);
      if (!('languages' in result)) throw new IndexingFailed('its process gave the result of another job');
      return result.languages;
    },
    close,
  };
}

function lastLine(text: string): string {
  const line = text.trim().split('\n').at(-1) ?? '';
  return line === '' ? '' : `: ${line}`;
}
