import type { FrontierRest } from '../crawl-records.ts';

/**
 * Decides what one worker's crawl does next. Pure: it does no I/O and reads no clock. `crawl-frontier.ts` reports events
 * to it and carries out its decisions. Times are in milliseconds.
 */
export type Schedule = {
  readonly limits: ScheduleLimits;
  /** When the worker stops taking on new URLs. */
  readonly endAtMs: number;
  /** URLs being visited. */
  readonly visitingCount: number;
  /** URLs that pending calls to the store may still lease to this worker. */
  readonly requestedCount: number;
  readonly isLeasing: boolean;
  /** Groups of results being stored and settled. */
  readonly settlingCount: number;
  /** Results that wait to be settled together. */
  readonly group: { readonly count: number; readonly bytes: number; readonly sinceMs: number };
  /** Visits whose response bodies are arriving. */
  readonly bodies: ReadonlySet<number>;
  /** Those bodies that the round was extended for. */
  readonly awaitedBodies: ReadonlySet<number>;
  /** Whether the store may have URLs to lease. */
  readonly mayHaveMore: boolean;
  /** How long an idle worker waits before it checks whether others found URLs. */
  readonly pollMs: number;
  /** What the store had left when this worker had nothing to do. */
  readonly rest: FrontierRest | undefined;
};

type ScheduleLimits = {
  maxConcurrency: number;
  /** How much the round is extended at a time while bodies are arriving. */
  extraMs: number;
  /** How long pending requests may continue when the time is up. */
  graceMs: number;
};

export type CrawlEvent =
  | { type: 'bodyStarted'; id: number }
  | { type: 'bodyEnded'; id: number; nowMs: number }
  /** A visit has a result, which takes so many bytes until it is settled. */
  | { type: 'visited'; id: number; bytes: number; nowMs: number }
  /** The store was asked to settle results and to lease up to `count` of the URLs found. */
  | { type: 'reportSent'; count: number }
  | { type: 'reportEnded'; count: number; takenCount: number; urlCount: number; settledCount: number }
  | { type: 'groupSettled' }
  | { type: 'leased'; limit: number; count: number }
  | { type: 'restRead'; rest: FrontierRest }
  | { type: 'polled' };

export type Decision =
  /**
   * Settle the group and lease up to `maxTaken` of the URLs it found. `linksFirst`: report these URLs before storing the
   * results, because the origin may accept more requests than there are URLs.
   */
  | { type: 'settle'; maxTaken: number; linksFirst: boolean }
  | { type: 'lease'; limit: number }
  /** Wait for an event, for at most this long. */
  | { type: 'wait'; waitMs: number }
  /** Wait for an event, for at most this long; if there was none, release other workers' ended leases. */
  | { type: 'poll'; waitMs: number }
  | { type: 'readRest' }
  | { type: 'end'; done: boolean; queuedCount: number };

const GROUP_RESULTS = 64;
const GROUP_BYTES = 4 * 1024 * 1024;
/** The longest that a result waits to be settled with others: usually, and when there is little to request. */
const GROUP_WAIT_MS = 60;
const HUNGRY_WAIT_MS = 10;
/** Groups that are stored and settled while fetching goes on. */
const MAX_SETTLING = 3;
/** What may wait for a slow store before the worker takes on no more URLs. */
const MAX_WAITING_RESULTS = 16 * GROUP_RESULTS;
const MAX_WAITING_BYTES = 4 * GROUP_BYTES;
const FIRST_POLL_MS = 20;
const MAX_POLL_MS = 250;

const EMPTY_GROUP = { count: 0, bytes: 0, sinceMs: 0 };

export function beginSchedule(limits: ScheduleLimits, endAtMs: number): Schedule {
  return {
    limits,
    endAtMs,
    visitingCount: 0,
    requestedCount: 0,
    isLeasing: false,
    settlingCount: 0,
    group: EMPTY_GROUP,
    bodies: new Set(),
    awaitedBodies: new Set(),
    mayHaveMore: true,
    pollMs: FIRST_POLL_MS,
    rest: undefined,
  };
}

export function applyEvent(state: Schedule, event: CrawlEvent): Schedule {
  const { group } = state;
  switch (event.type) {
    case 'bodyStarted':
      return { ...state, bodies: new Set(state.bodies).add(event.id) };
    case 'bodyEnded':
      return withoutBody(state, event.id, event.nowMs);
    case 'visited': {
      const sinceMs = group.count === 0 ? event.nowMs : group.sinceMs;
      return {
        ...withoutBody(state, event.id, event.nowMs),
        visitingCount: state.visitingCount - 1,
        group: { count: group.count + 1, bytes: group.bytes + event.bytes, sinceMs },
      };
    }
    case 'reportSent':
      return { ...state, requestedCount: state.requestedCount + event.count };
    case 'reportEnded': {
      const next = withVisits({ ...state, requestedCount: state.requestedCount - event.count }, event.takenCount);
      // Other workers' URLs count too; an unneeded query costs a millisecond.
      const hasMore = event.urlCount - event.settledCount > next.visitingCount + group.count;
      return { ...next, mayHaveMore: state.mayHaveMore || hasMore };
    }
    case 'groupSettled':
      return { ...state, settlingCount: state.settlingCount - 1 };
    case 'leased': {
      const next = withVisits({ ...state, requestedCount: state.requestedCount - event.limit }, event.count);
      return { ...next, isLeasing: false, mayHaveMore: event.count === event.limit };
    }
    case 'restRead':
      return { ...state, rest: event.rest };
    case 'polled':
      return { ...state, rest: undefined, mayHaveMore: true, pollMs: Math.min(MAX_POLL_MS, state.pollMs * 2) };
  }
}

/** The next thing to do, and the state once it has begun. */
export function decide(state: Schedule, nowMs: number): { decision: Decision; state: Schedule } {
  if (groupIsDue(state, nowMs)) {
    const next = { ...state, group: EMPTY_GROUP, settlingCount: state.settlingCount + 1 };
    return { decision: { type: 'settle', maxTaken: roomCount(next, nowMs), linksFirst: isHungry(next) }, state: next };
  }
  const limit = roomCount(state, nowMs);
  if (state.mayHaveMore && !state.isLeasing && limit >= maxVisiting(state) / 4) {
    const next = { ...state, isLeasing: true, requestedCount: state.requestedCount + limit };
    return { decision: { type: 'lease', limit }, state: next };
  }
  return isBusy(state) ? decideWhileBusy(state, nowMs) : decideWhileIdle(state, nowMs);
}

function decideWhileBusy(state: Schedule, nowMs: number): { decision: Decision; state: Schedule } {
  if (state.settlingCount === 0 && state.group.count === 0 && nowMs >= state.endAtMs + state.limits.graceMs) {
    // A body that had started when the time was up continues: a retry would start from the beginning, and be too slow.
    const awaitedBodies = new Set([...state.awaitedBodies, ...state.bodies]);
    if (awaitedBodies.size === 0) {
      // The origin is slow or asked for a pause: another activity continues from here, and the attempts are kept.
      return { decision: { type: 'end', done: false, queuedCount: state.visitingCount }, state };
    }
    const next = { ...state, awaitedBodies, endAtMs: nowMs + state.limits.extraMs };
    return { decision: waitForEvent(next, nowMs), state: next };
  }
  return { decision: waitForEvent(state, nowMs), state };
}

function waitForEvent(state: Schedule, nowMs: number): Decision {
  if (onlyBodiesArrive(state)) return { type: 'poll', waitMs: state.pollMs };
  const { group, settlingCount } = state;
  if (group.count === 0 || settlingCount >= MAX_SETTLING) return { type: 'wait', waitMs: GROUP_WAIT_MS };
  return { type: 'wait', waitMs: Math.max(1, group.sinceMs + groupWaitMs(state) - nowMs) };
}

function decideWhileIdle(state: Schedule, nowMs: number): { decision: Decision; state: Schedule } {
  const { rest } = state;
  if (rest === undefined) return { decision: { type: 'readRest' }, state };
  const { queuedCount, dueInMs } = rest;
  const done = queuedCount === 0 && !rest.leased;
  if (done || !takesOn(state, nowMs)) return { decision: { type: 'end', done, queuedCount }, state };
  if (dueInMs === 0) return decide({ ...state, rest: undefined, mayHaveMore: true }, nowMs);
  return { decision: { type: 'poll', waitMs: Math.min(dueInMs ?? state.pollMs, state.pollMs) }, state };
}

/** Whether nothing happens but bodies that arrive, which may take hours. */
export function onlyBodiesArrive({ visitingCount, bodies, settlingCount, group, isLeasing }: Schedule): boolean {
  return visitingCount === bodies.size && settlingCount === 0 && group.count === 0 && !isLeasing;
}

function groupIsDue(state: Schedule, nowMs: number): boolean {
  const { group, settlingCount, visitingCount } = state;
  if (group.count === 0 || settlingCount >= MAX_SETTLING) return false;
  // An almost empty frontier needs the URLs of this group now.
  const isNeeded = visitingCount === 0 || (settlingCount === 0 && visitingCount <= group.count);
  const isFull = group.count >= GROUP_RESULTS || group.bytes >= GROUP_BYTES;
  return isNeeded || isFull || nowMs - group.sinceMs >= groupWaitMs(state);
}

function groupWaitMs(state: Schedule): number {
  return isHungry(state) ? HUNGRY_WAIT_MS : GROUP_WAIT_MS;
}

/** Whether the origin may accept more requests than are queued here: then new URLs don't wait for the disk. */
function isHungry({ visitingCount, requestedCount, limits }: Schedule): boolean {
  return visitingCount + requestedCount < limits.maxConcurrency;
}

/** Twice the concurrency, so that the origin's limiter never waits for the store. */
function maxVisiting({ limits }: Schedule): number {
  return 2 * limits.maxConcurrency;
}

function roomCount(state: Schedule, nowMs: number): number {
  const { count, bytes } = state.group;
  if (!takesOn(state, nowMs) || count >= MAX_WAITING_RESULTS || bytes >= MAX_WAITING_BYTES) return 0;
  return Math.max(0, maxVisiting(state) - state.visitingCount - state.requestedCount);
}

function takesOn(state: Schedule, nowMs: number): boolean {
  return nowMs < state.endAtMs;
}

function isBusy({ visitingCount, settlingCount, isLeasing }: Schedule): boolean {
  return visitingCount + settlingCount > 0 || isLeasing;
}

function withVisits(state: Schedule, count: number): Schedule {
  if (count === 0) return state;
  return { ...state, visitingCount: state.visitingCount + count, pollMs: FIRST_POLL_MS };
}

/** Once no awaited body is left the round ends, and other workers may take the rest. */
function withoutBody(state: Schedule, id: number, nowMs: number): Schedule {
  const bodies = without(state.bodies, id);
  const awaitedBodies = without(state.awaitedBodies, id);
  const wasLast = state.awaitedBodies.size > 0 && awaitedBodies.size === 0;
  return { ...state, bodies, awaitedBodies, endAtMs: wasLast ? Math.min(state.endAtMs, nowMs) : state.endAtMs };
}

function without(ids: ReadonlySet<number>, id: number): ReadonlySet<number> {
  if (!ids.has(id)) return ids;
  const rest = new Set(ids);
  rest.delete(id);
  return rest;
}
