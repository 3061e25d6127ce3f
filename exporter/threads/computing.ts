import { availableParallelism } from 'node:os';
import { extname } from 'node:path';
import type { Piscina } from 'piscina';
import { makePiece, type PieceInput, type PieceMaker } from '../assemble/make-piece.ts';
import { targetIn } from '../assemble/url-map.ts';
import { parseResponse, type ResponseParser } from '../crawl/read-response.ts';
import { parseResources } from '../document/extract.ts';
import type { Target } from '../document/types.ts';
import type * as tasks from './tasks.ts';

/** The work of an export that only computes: to parse, to rewrite and to compress. */
export type Computing = ResponseParser & PieceMaker;

/** More threads would wait for the one that fetches and stores. */
const MAX_THREADS = 8;
/** Threads end after this time without a task, and the next tasks count as the first ones again. */
const IDLE_MS = 10_000;

type ComputingOptions = {
  /**
   * The default is the number of cores, without one for the caller and one for the compressors and the origin: on two
   * cores a thread took a third more processor time for the same export.
   */
  threads?: number;
  /** How many tasks the caller's thread does first: a thread takes about 0.2 s to start, and small sites need none. */
  firstTasks?: number;
};

/** Computes in threads of this process. A task rejects if its thread ends, for example without memory. */
export function createComputing({
  threads = availableParallelism() - 2,
  firstTasks = 100,
}: ComputingOptions = {}): Computing {
  const maxThreads = Math.min(threads, MAX_THREADS);
  if (maxThreads < 1) return inOwnThread;
  let pool: Promise<Piscina> | undefined;
  let count = 0;
  let lastAtMs = 0;

  /** Counts the task; true if it is one of the first. */
  function isFirst(): boolean {
    const nowMs = performance.now();
    if (nowMs - lastAtMs > IDLE_MS) count = 0;
    lastAtMs = nowMs;
    count += 1;
    return count <= firstTasks;
  }

  async function run<Name extends keyof typeof tasks>(
    name: Name,
    input: Parameters<(typeof tasks)[Name]>[0],
    copies: readonly Uint8Array<ArrayBuffer>[],
  ): Promise<Awaited<ReturnType<(typeof tasks)[Name]>>> {
    pool ??= startPool(maxThreads);
    return (await pool).run(input, { name, transferList: copies.map(({ buffer }) => buffer) });
  }

  return {
    async parseResponse(response, site) {
      if (isFirst()) return parseResponse(response, site);
      const body = new Uint8Array(response.body);
      return run('parse', { response: { ...response, body }, site }, [body]);
    },

    async makePiece(input) {
      if (isFirst()) return makePiece(input);
      // A view would be sent with the whole buffer behind it.
      const files = input.files.map((file) => ({
        ...file,
        bytes: new Uint8Array(file.bytes),
        extraction: new Uint8Array(file.extraction),
      }));
      const copies = files.flatMap(({ bytes, extraction }) => [bytes, extraction]);
      return run('makePiece', { ...input, files, targets: targetsOf(input) }, copies);
    },
  };
}

/** Loads the library only now: a small site never needs it, and loading it takes about 35 ms. */
async function startPool(maxThreads: number): Promise<Piscina> {
  const { Piscina } = await import('piscina');
  return new Piscina({
    // The build rewrites imports but not this, so the tasks' extension is this file's.
    filename: new URL(`./tasks${extname(import.meta.url)}`, import.meta.url).href,
    minThreads: 0,
    maxThreads,
    idleTimeout: IDLE_MS,
  });
}

const inOwnThread: Computing = { parseResponse: async (response, site) => parseResponse(response, site), makePiece };

/** Returns only the targets that the piece refers to, because the map may hold those of the whole site. */
function targetsOf({ files, targets }: PieceInput): Map<string, Target> {
  const own = new Map<string, Target>();
  for (const { extraction } of files) {
    for (const resource of parseResources(extraction)) {
      if (!own.has(resource.url)) own.set(resource.url, targetIn(targets, resource));
    }
  }
  return own;
}
