import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../../../store/database.ts';
import { type FoundUrl, frontierRest, type LeasedUrl, type SettledUrl, settleUrls } from '../../../store/frontier.ts';
import { leaseUrls, releaseEndedLeases } from '../../../store/frontier-leases.ts';
import type { ExportLimits } from '../limits.ts';
import type { SegmentStore } from '../segment-store.ts';
import type { Admission } from './admission.ts';
import { gatherBytes } from './gathered-bytes.ts';
import { placeFiles, unplacedBytes } from './segment.ts';
import type { StoredUrls } from './stored-urls.ts';
import { createStrongestUses } from './strongest-uses.ts';
import type { Visited } from './visited.ts';

export type CrawlRest = {
  /** Nothing is left, here or elsewhere. */
  done: boolean;
  queuedCount: number;
};

const GROUP_RESULTS = 64;
const GROUP_BYTES = 4 * 1024 * 1024;
/** A result waits no longer than this for others to be settled with, and where there is little to ask for meanwhile. */
const GROUP_WAIT_MS = 60;
const HUNGRY_WAIT_MS = 10;
/** Groups being stored and settled while fetching goes on. */
const MAX_SETTLING = 3;
/** How often a worker without work looks whether another one found some: at first, and at most. */
const FIRST_POLL_MS = 20;
const MAX_POLL_MS = 250;

/** Long enough for nearly every answer of an origin. */
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
    stored: StoredUrls;
    signal: AbortSignal;
    maxMs: number;
    /** What is under way when the time is up may still come in this long; afterwards it is given back. */
    graceMs?: number;
    /** The time in milliseconds. */
    now?: () => number;
  },
): Promise<CrawlRest> {
  const { db, segments, limits } = deps;
  const { jobId, token, admission, signal, now = Date.now } = options;
  const lease = { jobId, token, leaseMs: limits.leaseMs };
  const wanted = 2 * limits.maxConcurrency;
  const endAt = now() + options.maxMs;

  let runningCount = 0;
  let settlingCount = 0;
  let askedCount = 0;
  let leasing = false;
  let failure: { error: unknown } | undefined;
  let group: Visited[] = [];
  let gathered = gatherBytes(segments.buffers);
  let groupBytes = 0;
  let groupSince = 0;
  let mayHaveMore = true;
  let wake = (): void => undefined;
  const writes = new Set<Promise<void>>();

  /** Runs beside the loop, which hears of its end, good or bad. */
  function background(work: Promise<void>): void {
    work
      .catch((error: unknown) => {
        failure ??= { error };
      })
      .finally(() => wake());
  }

  /** As `background`, for what must not outlive the activity: a cancelled export is cleared up right after it. */
  function backgroundWrite(work: Promise<void>): void {
    writes.add(work);
    background(work.finally(() => writes.delete(work)));
  }

  function start(urls: readonly LeasedUrl[]): void {
    runningCount += urls.length;
    for (const leased of urls) background(visitOne(leased));
  }

  async function visitOne(leased: LeasedUrl): Promise<void> {
    try {
      const answered = await options.visit(leased);
      // Only now is it known which group it is in.
      const visited = gathered.keep(answered);
      if (group.length === 0) groupSince = now();
      group.push(visited);
      groupBytes += unplacedBytes(visited.result);
    } finally {
      runningCount -= 1;
    }
  }

  function groupIsDue(): boolean {
    if (group.length === 0 || settlingCount >= MAX_SETTLING) return false;
    const waitedLong = now() - groupSince >= (isHungry() ? HUNGRY_WAIT_MS : GROUP_WAIT_MS);
    // A frontier that runs dry needs what the group brings now.
    const needed = runningCount === 0 || (settlingCount === 0 && runningCount <= group.length);
    return needed || waitedLong || group.length >= GROUP_RESULTS || groupBytes >= GROUP_BYTES;
  }

  /** Whether the origin may have room for more than is at hand: then what pages lead to doesn't wait for the disk. */
  function isHungry(): boolean {
    return runningCount + askedCount < limits.maxConcurrency;
  }

  function roomCount(): number {
    return now() < endAt ? Math.max(0, wanted - runningCount - askedCount) : 0;
  }

  function takeFound(visits: readonly Visited[]): FoundUrl[] {
    const uses = createStrongestUses();
    for (const { leased, resources } of visits) {
      for (const resource of resources) {
        const found = options.stored.has(resource) ? undefined : admission.admit(resource, leased);
        if (found !== undefined && !options.stored.hasFound(found)) uses.add(found);
      }
    }
    const found = uses.list();
    for (const each of found.filter(({ skip }) => skip === null).slice(0, roomCount())) each.take = true;
    return found;
  }

  async function settleGroup(): Promise<void> {
    const settling = group;
    const settlingBytes = gathered;
    group = [];
    groupBytes = 0;
    gathered = gatherBytes(segments.buffers);
    settlingCount += 1;
    const found = takeFound(settling);
    // Before the results, never after them: a worker that dies in between has another one visit their pages again.
    const early = found.length > 0 && isHungry() ? store([], found) : undefined;
    if (early !== undefined) backgroundWrite(early);
    const place = async (): Promise<SettledUrl[]> => {
      const settled = await placeFiles(segments, jobId, settling);
      settlingBytes.giveBack();
      await early;
      return settled;
    };
    try {
      await store(place(), early === undefined ? found : []);
    } finally {
      settlingCount -= 1;
    }
  }

  /** Tells of results and of what they lead to, all or nothing; what was to be taken is visited here at once. */
  async function store(settled: readonly SettledUrl[] | Promise<SettledUrl[]>, found: FoundUrl[]): Promise<void> {
    const asked = found.filter(({ take }) => take).length;
    askedCount += asked;
    try {
      const answer = await settleUrls(db, { ...lease, settled: await settled, found });
      if (answer === undefined) throw new CrawlOver('the crawl is over');
      options.stored.add(found);
      admission.setUrlCount(answer.urlCount);
      start(answer.taken);
      // Others' work counts too; asking in vain once costs a millisecond.
      if (answer.urlCount - answer.settledCount > runningCount + group.length) mayHaveMore = true;
    } finally {
      askedCount -= asked;
    }
  }

  async function leaseMore(): Promise<void> {
    leasing = true;
    const limit = roomCount();
    askedCount += limit;
    try {
      const leased = await leaseUrls(db, { ...lease, limit });
      mayHaveMore = leased.length === limit;
      start(leased);
    } finally {
      askedCount -= limit;
      leasing = false;
    }
  }

  function nextEvent(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, group.length > 0 && isHungry() ? HUNGRY_WAIT_MS : GROUP_WAIT_MS);
      wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  async function work(): Promise<CrawlRest> {
    let pollMs = FIRST_POLL_MS;
    while (true) {
      signal.throwIfAborted();
      if (failure !== undefined) throw failure.error;
      const ending = now() >= endAt;
      const isBusy = runningCount + settlingCount > 0 || leasing;
      if (groupIsDue()) {
        backgroundWrite(settleGroup());
      } else if (mayHaveMore && !leasing && roomCount() >= wanted / 4) {
        backgroundWrite(leaseMore());
      } else if (isBusy) {
        pollMs = FIRST_POLL_MS;
        // A slow origin, or one that asked for a pause: another activity goes on from here, with the attempts counted.
        if (now() >= endAt + (options.graceMs ?? GRACE_MS) && settlingCount === 0 && group.length === 0)
          return { done: false, queuedCount: runningCount };
        await nextEvent();
      } else {
        const rest = await frontierRest(db, jobId);
        const done = rest.queuedCount === 0 && !rest.leased;
        if (done || ending) return { done, queuedCount: rest.queuedCount };
        if (rest.dueInMs !== 0) {
          await sleep(Math.min(rest.dueInMs ?? pollMs, pollMs), undefined, { signal });
          pollMs = Math.min(MAX_POLL_MS, pollMs * 2);
          await releaseEndedLeases(db, jobId);
        }
        mayHaveMore = true;
      }
    }
  }

  try {
    return await work();
  } finally {
    await Promise.allSettled(writes);
  }
}
