import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../../../store/database.ts';
import {
  type FoundUrl,
  frontierRest,
  type LeasedUrl,
  leaseUrls,
  releaseLeases,
  settleUrls,
} from '../../../store/frontier.ts';
import type { ExportLimits } from '../limits.ts';
import type { SegmentStore } from '../segment-store.ts';
import type { Admission } from './admission.ts';
import { placeFiles, unplacedBytes } from './segment.ts';
import type { Visited } from './visit.ts';

export type CrawlRest = {
  /** Nothing is left, here or elsewhere. */
  done: boolean;
  queuedCount: number;
};

const GROUP_RESULTS = 64;
const GROUP_BYTES = 4 * 1024 * 1024;
/** A result waits no longer than this for others to be settled with. */
const GROUP_WAIT_MS = 60;
/** How often a worker without work looks whether another one found some: at first, and at most. */
const FIRST_POLL_MS = 20;
const MAX_POLL_MS = 500;

/** What is under way when the time is up may still come in this long; afterwards it is given back. */
const GRACE_MS = 5_000;

/** Thrown when the crawl ended behind the worker's back: cancelled, or frozen. */
export class CrawlOver extends Error {
  override readonly name = 'CrawlOver';
}

/**
 * Works on a job's frontier until nothing is left or the time is up; the caller then aborts what is under way and gives
 * back what is still leased. Fetches run all the while; results are settled in
 * groups, and the addresses they bring are partly leased in the same statement, so the origin never waits for us.
 */
export async function crawlFrontier(
  deps: { db: Database; segments: SegmentStore; limits: ExportLimits },
  options: {
    jobId: string;
    token: string;
    admission: Admission;
    visit: (leased: LeasedUrl) => Promise<Visited>;
    signal: AbortSignal;
    maxMs: number;
  },
): Promise<CrawlRest> {
  const { db, segments, limits } = deps;
  const { jobId, token, admission, signal } = options;
  const lease = { jobId, token, leaseMs: limits.leaseMs };
  const wanted = 2 * limits.maxConcurrency;
  const endAt = Date.now() + options.maxMs;

  let runningCount = 0;
  let failure: { error: unknown } | undefined;
  let group: Visited[] = [];
  let groupBytes = 0;
  let groupSince = 0;
  let wake = (): void => undefined;

  function start(urls: readonly LeasedUrl[]): void {
    for (const leased of urls) {
      runningCount += 1;
      options
        .visit(leased)
        .then(
          (visited) => {
            if (group.length === 0) groupSince = Date.now();
            group.push(visited);
            groupBytes += unplacedBytes(visited.result);
          },
          (error: unknown) => {
            failure ??= { error };
          },
        )
        .finally(() => {
          runningCount -= 1;
          wake();
        });
    }
  }

  function groupIsDue(): boolean {
    if (group.length === 0) return false;
    // The second condition is a frontier that runs dry: what the group brings is needed now.
    return (
      group.length >= GROUP_RESULTS ||
      runningCount <= group.length ||
      groupBytes >= GROUP_BYTES ||
      Date.now() - groupSince >= GROUP_WAIT_MS
    );
  }

  function takeFound(visits: readonly Visited[]): FoundUrl[] {
    const best = new Map<string, FoundUrl>();
    for (const { leased, resources } of visits) {
      for (const resource of resources) {
        const found = admission.admit(resource, leased);
        if (found !== undefined && found.rank >= (best.get(found.url)?.rank ?? 0)) best.set(found.url, found);
      }
    }
    let room = Date.now() < endAt ? Math.max(0, wanted - runningCount) : 0;
    for (const found of best.values()) {
      if (room === 0) break;
      if (found.skip !== null) continue;
      found.take = true;
      room -= 1;
    }
    return [...best.values()].sort((a, b) => (a.url < b.url ? -1 : 1));
  }

  async function settleGroup(): Promise<boolean> {
    const settling = group;
    group = [];
    groupBytes = 0;
    const settled = await placeFiles(segments, jobId, settling);
    const answer = await settleUrls(db, { ...lease, settled, found: takeFound(settling) });
    if (answer === undefined) throw new CrawlOver('the crawl is over');
    admission.setUrlCount(answer.urlCount);
    start(answer.taken);
    return answer.urlCount - answer.settledCount > runningCount + group.length;
  }

  function nextEvent(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, GROUP_WAIT_MS);
      wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  let mayHaveMore = true;
  let pollMs = FIRST_POLL_MS;
  while (true) {
    signal.throwIfAborted();
    if (failure !== undefined) throw failure.error;
    const ending = Date.now() >= endAt;
    if (groupIsDue()) {
      mayHaveMore = await settleGroup();
      pollMs = FIRST_POLL_MS;
    } else if (mayHaveMore && !ending && runningCount < limits.maxConcurrency) {
      const leased = await leaseUrls(db, { ...lease, limit: wanted - runningCount });
      mayHaveMore = leased.length > 0;
      start(leased);
    } else if (runningCount > 0) {
      // A slow origin, or one that asked for a pause: another activity goes on from here, with the attempts counted.
      if (Date.now() >= endAt + GRACE_MS) return { done: false, queuedCount: runningCount };
      await nextEvent();
    } else {
      const rest = await frontierRest(db, jobId);
      const done = rest.queuedCount === 0 && !rest.leased;
      if (done || ending) return { done, queuedCount: rest.queuedCount };
      if (rest.dueInMs !== 0) {
        await sleep(Math.min(rest.dueInMs ?? pollMs, pollMs), undefined, { signal });
        pollMs = Math.min(MAX_POLL_MS, pollMs * 2);
        await releaseLeases(db, jobId, []);
      }
      mayHaveMore = true;
    }
  }
}
