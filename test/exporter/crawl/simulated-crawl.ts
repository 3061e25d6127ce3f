import {
  applyEvent,
  beginSchedule,
  type CrawlEvent,
  type Decision,
  decide,
  onlyBodiesArrive,
  type Schedule,
} from '../../../exporter/crawl/schedule.ts';

/** A URL of a simulated site: the URLs it links to by index, and how its visit goes. */
export type SimulatedPage = {
  links: readonly number[];
  bytes: number;
  headMs: number;
  bodyMs: number;
  /** Another worker holds the lease until then and crashes. */
  heldUntilMs: number;
  /** Failed attempts before it succeeds, and the delay after each. */
  failures: number;
  retryMs: number;
};

export type SimulatedCrawl = {
  pages: readonly SimulatedPage[];
  limits: { maxConcurrency: number; maxMs: number; extraMs: number; graceMs: number };
  /** How long the store takes to lease, to settle, and to write a group's bytes. */
  leaseMs: number;
  settleMs: number;
  writeMs: number;
};

export type SimulationResult = {
  end: Extract<Decision, { type: 'end' }>;
  endedAtMs: number;
  visits: ReadonlyMap<number, number>;
  firstVisitMs: ReadonlyMap<number, number>;
  settled: ReadonlySet<number>;
  maxVisiting: number;
  maxHeldBytes: number;
  /** When the worker last leased URLs. */
  lastLeaseAtMs: number;
};

type Stored = { state: 'queued' | 'leased' | 'settled'; dueAtMs: number; heldUntilMs: number };

/** Carries out the scheduler's decisions on a virtual clock, starting with the first page. */
export function simulateCrawl({ pages, limits, ...times }: SimulatedCrawl): SimulationResult {
  const store = new Map<number, Stored>();
  const visits = new Map<number, number>();
  const firstVisitMs = new Map<number, number>();
  const timers: Array<{ atMs: number; run: () => void }> = [];
  let nowMs = 0;
  let schedule: Schedule = beginSchedule(limits, limits.maxMs);
  let group: Array<{ id: number; bytes: number; failed: boolean }> = [];
  let heldBytes = 0;
  let [maxVisiting, maxHeldBytes, lastLeaseAtMs] = [0, 0, 0];

  const pageOf = (id: number): SimulatedPage => {
    const page = pages[id];
    if (page === undefined) throw new Error(`There is no page ${id}`);
    return page;
  };
  const apply = (event: CrawlEvent): void => {
    schedule = applyEvent(schedule, event);
  };
  const after = (ms: number, run: () => void): void => {
    timers.push({ atMs: nowMs + ms, run });
  };

  function enqueue(id: number): void {
    if (!store.has(id)) store.set(id, { state: 'queued', dueAtMs: 0, heldUntilMs: pageOf(id).heldUntilMs });
  }

  function lease(ids: readonly number[], limit: number): number[] {
    const due = ids.filter((id) => {
      const stored = store.get(id);
      return stored?.state === 'queued' && stored.dueAtMs <= nowMs && stored.heldUntilMs === 0;
    });
    const leased = due.slice(0, limit);
    for (const id of leased) store.set(id, { state: 'leased', dueAtMs: 0, heldUntilMs: 0 });
    return leased;
  }

  function visit(id: number): void {
    const page = pageOf(id);
    const attempt = (visits.get(id) ?? 0) + 1;
    visits.set(id, attempt);
    if (attempt === 1) firstVisitMs.set(id, nowMs);
    const failed = attempt <= page.failures;
    after(page.headMs, () => {
      if (!failed) apply({ type: 'bodyStarted', id });
      after(failed ? 0 : page.bodyMs, () => {
        const bytes = failed ? 0 : page.bytes;
        if (!failed) apply({ type: 'bodyEnded', id, nowMs });
        apply({ type: 'visited', id, bytes, nowMs });
        group.push({ id, bytes, failed });
        heldBytes += bytes;
      });
    });
  }

  function report(settling: typeof group, found: readonly number[], taken: readonly number[], waitMs: number): void {
    apply({ type: 'reportSent', count: taken.length });
    after(waitMs, () => {
      for (const { id, failed } of settling) {
        const dueAtMs = nowMs + pageOf(id).retryMs;
        store.set(id, { state: failed ? 'queued' : 'settled', dueAtMs, heldUntilMs: 0 });
      }
      for (const id of found) enqueue(id);
      const leased = lease(taken, taken.length);
      const settledCount = [...store.values()].filter(({ state }) => state === 'settled').length;
      const counts = { urlCount: store.size, settledCount };
      apply({ type: 'reportEnded', count: taken.length, takenCount: leased.length, ...counts });
      for (const id of leased) visit(id);
    });
  }

  function settle({ maxTaken, linksFirst }: { maxTaken: number; linksFirst: boolean }): void {
    const settling = group;
    group = [];
    const links = settling.flatMap(({ id, failed }) => (failed ? [] : pageOf(id).links));
    const found = [...new Set(links)].filter((id) => !store.has(id));
    const taken = found.slice(0, maxTaken);
    const early = linksFirst && found.length > 0;
    if (early) report([], found, taken, times.settleMs);
    const doneMs = times.writeMs + (early ? 2 : 1) * times.settleMs;
    report(settling, early ? [] : found, early ? [] : taken, doneMs);
    after(doneMs, () => {
      for (const { bytes } of settling) heldBytes -= bytes;
      apply({ type: 'groupSettled' });
    });
  }

  /** Runs until the next timer, for at most this long. Returns whether there was one. */
  function advance(waitMs: number): boolean {
    timers.sort((a, b) => a.atMs - b.atMs);
    const next = timers[0];
    if (next === undefined || next.atMs > nowMs + waitMs) {
      nowMs += waitMs;
      return false;
    }
    nowMs = next.atMs;
    timers.shift();
    next.run();
    return true;
  }

  function poll(waitMs: number): void {
    if (advance(waitMs) || !onlyBodiesArrive(schedule)) return;
    for (const stored of store.values()) if (stored.heldUntilMs <= nowMs) stored.heldUntilMs = 0;
    apply({ type: 'polled' });
  }

  function readRest(): void {
    const queued = [...store.values()].filter(({ state }) => state === 'queued');
    const free = queued.filter(({ heldUntilMs }) => heldUntilMs === 0);
    const dueInMs = free.length === 0 ? null : Math.max(0, Math.min(...free.map(({ dueAtMs }) => dueAtMs)) - nowMs);
    const rest = { queuedCount: free.length, leased: queued.length > free.length, dueInMs };
    apply({ type: 'restRead', rest });
  }

  enqueue(0);
  for (let steps = 1; ; steps += 1) {
    if (steps > 50_000) throw new Error('The crawl does not end');
    const { decision, state } = decide(schedule, nowMs);
    schedule = state;
    maxVisiting = Math.max(maxVisiting, schedule.visitingCount + schedule.requestedCount);
    maxHeldBytes = Math.max(maxHeldBytes, heldBytes);
    switch (decision.type) {
      case 'settle':
        settle(decision);
        break;
      case 'lease': {
        lastLeaseAtMs = nowMs;
        after(times.leaseMs, () => {
          const leased = lease([...store.keys()], decision.limit);
          apply({ type: 'leased', limit: decision.limit, count: leased.length });
          for (const id of leased) visit(id);
        });
        break;
      }
      case 'wait':
        advance(decision.waitMs);
        break;
      case 'poll':
        poll(decision.waitMs);
        break;
      case 'readRest':
        readRest();
        break;
      case 'end': {
        const settled = new Set([...store].filter(([, { state }]) => state === 'settled').map(([id]) => id));
        const counts = { maxVisiting, maxHeldBytes, lastLeaseAtMs };
        return { end: decision, endedAtMs: nowMs, visits, firstVisitMs, settled, ...counts };
      }
    }
  }
}
