import { jobWord } from '../../../contract/admin-api.ts';
import type { ExportJobRow } from '../../store/export-jobs.ts';
import type { ExportFacts } from './export-pages.tsx';

type Pace = {
  /** Pages per second since the start; null if nothing is known yet. */
  pagesPerSecond: number | null;
  /** The time left at this pace, in milliseconds; null if unknown or over. */
  leftMs: number | null;
};

/** Below this, an estimate says more about the start than about the rest. */
const ENOUGH_PERCENT = 3;

/** How fast a job is, by what it has done so far. */
export function paceOf(
  {
    startedAt,
    finishedAt,
    pageCount,
    progress,
    status,
  }: Pick<ExportJobRow, 'startedAt' | 'finishedAt' | 'pageCount' | 'progress' | 'status'>,
  now: Date,
): Pace {
  if (startedAt === null) return { pagesPerSecond: null, leftMs: null };
  const elapsedMs = Math.max(1, (finishedAt ?? now).getTime() - startedAt.getTime());
  const isRunning = status === 'running' && progress >= ENOUGH_PERCENT && progress < 100;
  return {
    pagesPerSecond: pageCount === 0 ? null : (pageCount * 1000) / elapsedMs,
    leftMs: isRunning ? (elapsedMs * (100 - progress)) / progress : null,
  };
}

export type StageRow = {
  name: string;
  state: 'waiting' | 'running' | 'ended' | 'failed' | 'canceled';
  from: Date | null;
  to: Date | null;
};

/** What a job goes through. Jobs of earlier releases have no time between crawling and packing. */
export function stagesOf({ job, phase }: Pick<ExportFacts, 'job' | 'phase'>): StageRow[] {
  const { createdAt, startedAt, crawledAt, finishedAt, status } = job;
  const crawl = { name: 'Crawl', from: startedAt, to: crawledAt };
  const pack = { name: 'Rewrite and pack', from: crawledAt, to: finishedAt };
  const queue: StageRow = { name: 'Wait for a worker', state: 'ended', from: createdAt, to: startedAt };
  if (status === 'queued') {
    return [
      { ...queue, state: 'running', to: null },
      { ...crawl, state: 'waiting' },
      { ...pack, state: 'waiting' },
    ];
  }
  if (status === 'failed') {
    const end = jobWord({ ...job, status });
    return crawledAt === null
      ? [queue, { ...crawl, to: finishedAt, state: end }, { ...pack, state: 'waiting' }]
      : [queue, { ...crawl, state: 'ended' }, { ...pack, state: end }];
  }
  if (status === 'completed') {
    return [queue, { ...crawl, state: 'ended' }, { ...pack, state: 'ended' }];
  }
  const isFrozen = phase === 'frozen';
  return [
    queue,
    { ...crawl, state: isFrozen ? 'ended' : 'running' },
    { ...pack, state: isFrozen ? 'running' : 'waiting' },
  ];
}
