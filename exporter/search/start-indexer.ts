import { extname } from 'node:path';
import { startBoundedProgram } from '../../base/bounded-program.ts';
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

/** Starts a process that makes a search index with Pagefind. Its methods throw `IndexingFailed`, and the signal's reason. */
export function startIndexer(
  signal: AbortSignal,
  { program = PROGRAM, pageMs = 60_000, finishMs = 30 * 60_000 }: IndexerOptions = {},
): Indexer {
  const failed = (why: string): Error => new IndexingFailed(why);
  const { run, close } = startBoundedProgram<IndexWork>(signal, { program, heapMb: HEAP_MB, failed });
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
