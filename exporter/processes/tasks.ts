import { makePiece } from '../assemble/make-piece.ts';
import { readSitemap } from '../crawl/discover.ts';
import { moduleImports, parseResponse } from '../crawl/read-response.ts';

/** What task processes do: pure functions of one argument. */
export const TASKS = { parseResponse, moduleImports, readSitemap, makePiece };
export const TASK_NAMES = ['parseResponse', 'moduleImports', 'readSitemap', 'makePiece'] as const;

export type Tasks = typeof TASKS;
export type TaskName = (typeof TASK_NAMES)[number];
