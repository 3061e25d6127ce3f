import { randomUUID } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import type { Logger } from 'pino';
import type { ExportLimits } from './limits.ts';
import type { CrawlStore } from './ports.ts';

/** How far an export is, `progress` in percent. A figure below the one reported before changes nothing. */
export type Progress = { progress: number; pageCount: number };

/** Reports that the export is alive without changing a figure. */
export const NO_PROGRESS: Progress = { progress: 0, pageCount: 0 };

type StageRun = {
  /** Fires when the stage must end (its job was canceled or is gone, its process stops), and when it has ended. */
  signal: AbortSignal;
  /** Identifies this attempt's leases. Those of earlier attempts have ended when the work begins. */
  token: string;
  /** Whether no attempt of it has ended before, perhaps with its process. */
  isFirst: boolean;
  /** Reports progress at once. Throws if the job has ended. */
  report(progress: Progress): Promise<void>;
};

/**
 * Runs one stage of a job. While `work` runs, the runner shows `details` and asks for `progress` about every second,
 * never twice at the same time, and fails the stage if the job was canceled or has ended.
 */
export type RunStage = <Result>(
  options: { jobId: string; details: () => unknown; progress?: () => Promise<Progress> },
  work: (run: StageRun) => Promise<Result>,
) => Promise<Result>;

/** Work that can also be done apart: in processes that may end without harm to this one. */
export type WithApart<Work> = Work & { apart: WithApart<Work> };

/** What an attempt of a stage works with. After another attempt, a document may have ended its process: all is apart. */
export function depsOfAttempt<Deps extends { computing: { apart: Deps['computing'] } }>(
  deps: Deps,
  { isFirst }: Pick<StageRun, 'isFirst'>,
): Deps {
  return isFirst ? deps : { ...deps, computing: deps.computing.apart };
}

/** What every stage needs. */
export type StageDeps = { store: CrawlStore; logger: Logger; limits: ExportLimits; runStage: RunStage };

/**
 * Runs work that leases with this token, and releases what it still holds. If the release fails, so does the work: only
 * the next attempt can end the leases then.
 */
export async function withLeases<Result>(
  { store, logger }: Pick<StageDeps, 'store' | 'logger'>,
  { jobId, token }: { jobId: string; token: string },
  work: () => Promise<Result>,
): Promise<Result> {
  const release = () => store.releaseLeases(jobId, [token]);
  let result: Result;
  try {
    result = await work();
  } catch (error) {
    await release().catch((err: unknown) => logger.warn({ err, jobId }, 'Leases could not be released'));
    throw error;
  }
  await release();
  return result;
}

const PROGRESS_MS = 250;

/** Runs stages in this process. `signal` ends them; `onProgress` gets their progress several times a second. */
export function createLocalStageRunner({
  signal,
  onProgress,
}: {
  signal: AbortSignal;
  onProgress: (progress: Progress) => void;
}): RunStage {
  return async ({ progress = async () => NO_PROGRESS }, work) => {
    signal.throwIfAborted();
    const token = randomUUID();
    const ended = new AbortController();
    const either = AbortSignal.any([signal, ended.signal]);
    // Every request listens to it.
    setMaxListeners(0, either);
    let asking = false;
    const timer = setInterval(async () => {
      if (asking) return;
      asking = true;
      await progress().then(onProgress, (error: unknown) => ended.abort(error));
      asking = false;
    }, PROGRESS_MS);
    try {
      return await work({
        signal: either,
        token,
        isFirst: true,
        report: async (reached) => onProgress(reached),
      });
    } finally {
      clearInterval(timer);
      // The next attempt must not compete with what this one has left running.
      ended.abort(new Error('The stage has ended'));
    }
  };
}

/** The progress of a job, in percent, at which each stage begins. */
const CRAWL_FROM = 2;
const REWRITE_FROM = 70;
const PACK_FROM = 92;

/**
 * The total isn't known while crawling, so this is the share of the URLs found so far. A later find can't lower it,
 * because the row only accepts higher figures.
 */
export function crawlProgress({ urlCount, settledCount }: { urlCount: number; settledCount: number }): number {
  const share = urlCount === 0 ? 0 : Math.min(1, settledCount / urlCount);
  return CRAWL_FROM + share * (REWRITE_FROM - CRAWL_FROM);
}

export function rewriteProgress({ settled, total }: { settled: number; total: number }): number {
  return REWRITE_FROM + (total === 0 ? 1 : settled / total) * (PACK_FROM - REWRITE_FROM);
}

export function proofProgress({ doneCount, pageCount }: { doneCount: number; pageCount: number }): number {
  return 99 + (pageCount === 0 ? 0 : (0.9 * doneCount) / pageCount);
}

/** The archive is read twice, so `total` is twice its size. */
export function packProgress({ bytes, totalBytes }: { bytes: number; totalBytes: number }): number {
  return PACK_FROM + Math.min(1, totalBytes === 0 ? 1 : bytes / totalBytes) * (99 - PACK_FROM);
}
