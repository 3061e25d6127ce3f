import { availableParallelism } from 'node:os';
import { z } from 'zod';
import { makePiece, type PieceInput, type PieceMaker } from '../assemble/make-piece.ts';
import { targetIn } from '../assemble/url-map.ts';
import { readSitemap, type SitemapReader } from '../crawl/discover.ts';
import { moduleImports, parseResponse, type ResponseParser, unreadResponse } from '../crawl/read-response.ts';
import { parseResources } from '../document/extract.ts';
import type { Target } from '../document/types.ts';
import type { WithApart } from '../stage.ts';
import { type PoolOptions, TaskDied, TaskPool } from './task-pool.ts';
import type { TaskName, Tasks } from './tasks.ts';

/** The work of an export that only computes: to parse, to rewrite and to compress. */
export type Computing = WithApart<ResponseParser & SitemapReader & PieceMaker>;

/** More processes would wait for the one that fetches and stores. */
const MAX_PROCESSES = 8;
/** Larger documents could take long or much memory. This process reads smaller ones in about 10 ms. */
const MAX_BYTES_HERE = 1024 * 1024;
/** After this time without a task, the next tasks count as the first ones again. */
const IDLE_MS = 10_000;

type ComputingOptions = {
  /** For all work, not only for large documents: in a process that has more to do than exports. */
  allApart?: boolean;
  /**
   * Processes besides this one. The default leaves a core to this process and one to compression and the origin. Without
   * any to spare, one gets only what must not run here: for everything it would cost a third more processor time.
   */
  processes?: number;
  /** Tasks that this process does first: a small site needs no other. */
  firstTasks?: number;
} & Omit<PoolOptions, 'maxProcesses'>;

/** Results come from our own program. */
const trusted = z.any();

/**
 * Computes here or in child processes. A document that ends its process is unread: its bytes stay as they are, with a
 * reason. Rejects if no process can be started, or if the system kills them all.
 */
export function createComputing({
  allApart = false,
  processes = availableParallelism() - 2,
  firstTasks = 100,
  ...pool
}: ComputingOptions = {}): Computing {
  const apart = createApart({ ...pool, maxProcesses: Math.min(Math.max(processes, 1), MAX_PROCESSES) });
  let count = 0;
  let lastAtMs = 0;

  function runsHere(sizeBytes: number): boolean {
    if (allApart || sizeBytes > MAX_BYTES_HERE) return false;
    if (processes < 1) return true;
    const nowMs = performance.now();
    if (nowMs - lastAtMs > IDLE_MS) count = 0;
    lastAtMs = nowMs;
    count += 1;
    return count <= firstTasks;
  }

  return {
    apart,
    parseResponse: async (input) => (runsHere(input.body.length) ? parseResponse(input) : apart.parseResponse(input)),
    moduleImports: async (module) =>
      runsHere(module.bytes.length) ? moduleImports(module) : apart.moduleImports(module),
    readSitemap: (body) => (runsHere(body.length) ? readSitemap(body) : apart.readSitemap(body)),
    makePiece: (input) => (runsHere(sizeOf(input)) ? makePiece(input) : apart.makePiece(input)),
  };
}

function createApart(options: PoolOptions): Computing {
  const pool = new TaskPool(options);

  /** `whenDead`: the result if the task ends its process. */
  async function run<Name extends TaskName>(
    name: Name,
    input: Parameters<Tasks[Name]>[0],
    { sizeBytes, whenDead }: { sizeBytes: number; whenDead: (reason: string) => ReturnType<Tasks[Name]> },
  ): Promise<Awaited<ReturnType<Tasks[Name]>>> {
    try {
      return trusted.parse(await pool.run({ name, input, sizeBytes }));
    } catch (error) {
      if (!(error instanceof TaskDied)) throw error;
      return await whenDead(`its process ended: ${error.message}`);
    }
  }

  async function makePieceApart(input: PieceInput, whenDead: (reason: string) => ReturnType<typeof makePiece>) {
    return run('makePiece', { ...input, targets: targetsOf(input) }, { sizeBytes: sizeOf(input), whenDead });
  }

  /** Only compresses the files that end the process. */
  async function makeWithoutDeadly(input: PieceInput): ReturnType<typeof makePiece> {
    const failures: { url: string; reason: string }[] = [];
    const files: PieceInput['files'][number][] = [];
    for (const file of input.files) {
      const plain = { ...file, extraction: new Uint8Array() };
      const { url } = file;
      const before = failures.length;
      await makePieceApart({ ...input, files: [file] }, async (reason) => {
        failures.push({ url, reason });
        return { bytes: plain.bytes, files: [], broken: [], failures: [], originUrls: [], anchors: [], madeTwins: 0 };
      });
      files.push(failures.length > before ? plain : file);
    }
    const made = await makePieceApart({ ...input, files }, (reason) => {
      throw new Error(`A piece of the archive can't be made: ${reason}`);
    });
    return { ...made, failures: [...made.failures, ...failures] };
  }

  const apart: Computing = {
    get apart() {
      return apart;
    },
    parseResponse: (input) =>
      run('parseResponse', input, {
        sizeBytes: input.body.length,
        whenDead: (reason) => unreadResponse(input, reason),
      }),
    moduleImports: (module) => run('moduleImports', module, { sizeBytes: module.bytes.length, whenDead: () => [] }),
    readSitemap: (body) =>
      run('readSitemap', body, { sizeBytes: body.length, whenDead: async () => ({ pages: [], sitemaps: [] }) }),
    makePiece: (input) => makePieceApart(input, () => makeWithoutDeadly(input)),
  };
  return apart;
}

function sizeOf({ files }: PieceInput): number {
  return files.reduce((sum, { bytes, extraction }) => sum + bytes.length + extraction.length, 0);
}

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
