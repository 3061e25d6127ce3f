import { setTimeout as sleep } from 'node:timers/promises';
import { createByteBudget, workThrough } from '../concurrency.ts';
import { needingObjects } from '../export-failure.ts';
import type { RestartCheck } from '../job-cache.ts';
import { checkBudget } from '../limits.ts';
import { openPreviousCrawl } from '../reuse/reuse-key.ts';
import { planSearch } from '../search/plan-search.ts';
import { readCrawl } from '../settings.ts';
import { depsOfAttempt, rewriteProgress, type StageDeps, withLeases } from '../stage.ts';
import { makeSearchBatch, type SearchDeps } from './make-search.ts';
import { needCompressors, planSiblings } from './precompress.ts';
import type { PreviousPiecesFor } from './previous-pieces.ts';
import { type BatchDeps, rewriteBatch } from './rewrite-batch.ts';

/** Concurrent batches: while zlib's threads compress one, the next is rewritten. */
const BATCHES_AT_ONCE = 3;
/**
 * The same if pieces are reused: most batches only wait for the database and the disk. A byte budget limits the others.
 */
const KNOWN_BATCHES_AT_ONCE = 16;
/** How often a worker without a batch checks whether one was released. */
const POLL_MS = 200;

type RewriteDeps = StageDeps &
  BatchDeps &
  Pick<SearchDeps, 'indexer'> & { forgetIfRestarted: RestartCheck; previousPiecesFor: PreviousPiecesFor };

export type RewriteRest = { done: boolean; settled: number; total: number };

/** Makes pieces of the archive until all are made or the time is up. Any number of these share one job. */
export async function rewriteFiles(
  given: RewriteDeps,
  { jobId, maxMs }: { jobId: string; maxMs: number },
): Promise<RewriteRest> {
  const { store, limits } = given;
  let madeCount = 0;
  let token = '';

  async function progress() {
    await store.renewLeases({ jobId, token, leaseMs: limits.leaseMs });
    return { progress: rewriteProgress(await store.batchProgress(jobId)), pageCount: 0 };
  }

  const details = () => ({ batches: madeCount });
  return given.runStage({ jobId, details, progress }, async ({ signal, ...life }) => {
    const deps = depsOfAttempt(given, life);
    token = life.token;
    const crawl = await readCrawl(store, jobId);
    deps.forgetIfRestarted(crawl);
    checkBudget(crawl, limits);
    needCompressors(crawl.settings.precompress);
    const siblings = await planSiblings(store, crawl.settings);
    const isSearched = (await planSearch(store, crawl.settings)).kind === 'pagefind';
    const searchBatch = isSearched ? crawl.batchCount - 1 : undefined;
    const base = await openPreviousCrawl(deps, crawl);
    const known = base && deps.previousPiecesFor({ jobId, base });
    const budget = createByteBudget(BATCHES_AT_ONCE * limits.batchBytes);
    const atOnce = known === undefined ? BATCHES_AT_ONCE : KNOWN_BATCHES_AT_ONCE;
    const endAt = Date.now() + maxMs;

    const limit = known === undefined ? 1 : atOnce;
    const take = () => store.leaseBatches({ jobId, token, limit, leaseMs: limits.leaseMs });
    const goesOn = () => Date.now() < endAt;

    /** Returns false if the time is up before. */
    async function areOthersMade(ending: AbortSignal): Promise<boolean> {
      while (true) {
        const { total, settled } = await store.batchProgress(jobId);
        if (settled === total - 1 || !goesOn()) return settled === total - 1;
        await sleep(POLL_MS, undefined, { signal: ending });
      }
    }

    async function makeBatch(number: number, ending: AbortSignal): Promise<void> {
      const options = { known, budget, signal: ending };
      const job = { ...crawl, siblings, isSearched };
      // It is leased last, but other workers may still make the pages.
      if (number === searchBatch && !(await areOthersMade(ending))) return;
      const made =
        number === searchBatch
          ? makeSearchBatch(deps, { ...job, signal: ending }, number)
          : rewriteBatch(deps, job, number, options);
      const batch = await needingObjects(made);
      const spent = await store.settleBatch({ jobId, token, batch });
      if (spent !== undefined) checkBudget(spent, limits);
      madeCount += 1;
    }

    return withLeases(deps, { jobId, token }, async () => {
      while (true) {
        await workThrough({ take, atOnce, goesOn, signal }, makeBatch);
        const { total, settled, free } = await store.batchProgress(jobId);
        if (settled === total || Date.now() >= endAt) return { done: settled === total, settled, total };
        // Other workers have the rest; we can lease it if they release it.
        if (free === 0) await sleep(POLL_MS, undefined, { signal });
      }
    });
  });
}
