import { z } from 'zod';
import { type StartOutcome, type StartPlace, type StartRequest, startRequest } from '../../contract/start-gate.ts';

/** Which site may start next, and when. Pure. */

const ms = z.number();
export const HOUR_MS = 3_600_000;

/** After a 429 of a limit that isn't known, or that others use up, the next start waits at most this long. */
const CLOSED_MS = 10 * 60_000;
/** Without a known limit, one start at a time: its outcome says whether another may follow. After this time, it is lost. */
const OUTCOME_MS = 5 * 60_000;

export const gateState = z.object({
  /** Of galley.yaml; null if a 429 has taught that there is a limit. */
  limit: z.int().nullable(),
  waiting: z.array(startRequest),
  /** The starts of the last hour, oldest first, including those whose response was lost. */
  starts: z.array(z.object({ site: z.string(), atMs: ms })),
  /** No start before this time, because the service has just refused one. */
  closedUntilMs: ms,
  /** Without a known limit: the start whose outcome is awaited. */
  awaited: z.object({ site: z.string(), atMs: ms }).nullable(),
});
export type GateState = z.infer<typeof gateState>;

export function newGate(): GateState {
  return { limit: null, waiting: [], starts: [], closedUntilMs: 0, awaited: null };
}

/** A site waits. A person's export goes first; then the site whose oldest publish waits longest. */
export function addRequest(gate: GateState, request: StartRequest): void {
  gate.limit = request.startsPerHour;
  gate.waiting = gate.waiting.filter(({ site }) => site !== request.site);
  gate.waiting.push(request);
  gate.waiting.sort(
    (a, b) => Number(b.byPerson) - Number(a.byPerson) || a.oldestAtMs - b.oldestAtMs || (a.site < b.site ? -1 : 1),
  );
}

export function endStart(gate: GateState, { site, outcome }: StartOutcome, nowMs: number): void {
  if (outcome === 'withdrawn') gate.waiting = gate.waiting.filter((request) => request.site !== site);
  if (outcome === 'lost') gate.starts.push({ site, atMs: nowMs });
  if (gate.awaited?.site === site) gate.awaited = null;
  if (outcome !== 'limited') return;
  // The refused start wasn't counted by the service.
  const refused = gate.starts.findLastIndex((start) => start.site === site);
  if (refused >= 0) gate.starts.splice(refused, 1);
  const [oldest] = gate.starts;
  const freeAtMs = oldest === undefined ? Number.POSITIVE_INFINITY : oldest.atMs + HOUR_MS;
  gate.closedUntilMs = Math.min(nowMs + CLOSED_MS, freeAtMs);
}

/** When the first that waits may start; a free start is used at once. */
export function nextStartMs(gate: GateState, nowMs: number): number {
  const { limit, starts, awaited, closedUntilMs } = gate;
  const recent = starts.filter(({ atMs }) => atMs > nowMs - HOUR_MS);
  const last = limit === null ? undefined : recent[recent.length - limit];
  const freeAtMs = last === undefined ? nowMs : last.atMs + HOUR_MS;
  const knownAtMs = limit === null && awaited !== null ? awaited.atMs + OUTCOME_MS : nowMs;
  return Math.max(freeAtMs, knownAtMs, closedUntilMs, nowMs);
}

/** Hands the next start out; undefined if none is free or no site waits. */
export function takeStart(gate: GateState, nowMs: number): StartRequest | undefined {
  if (nextStartMs(gate, nowMs) > nowMs) return undefined;
  const next = gate.waiting.shift();
  if (next === undefined) return undefined;
  gate.starts = [...gate.starts.filter(({ atMs }) => atMs > nowMs - HOUR_MS), { site: next.site, atMs: nowMs }];
  if (gate.limit === null) gate.awaited = { site: next.site, atMs: nowMs };
  return next;
}

/** Each site's place, and when it probably starts: by the known limit, as if no person's export came between. */
export function placesOf(gate: GateState, nowMs: number): Record<string, StartPlace> {
  const { limit, waiting, starts, closedUntilMs } = gate;
  const used = starts.filter(({ atMs }) => atMs > nowMs - HOUR_MS).map(({ atMs }) => atMs);
  // The slots of the hour in the order in which they become free.
  const slots =
    limit === null ? [] : [...Array(Math.max(limit - used.length, 0)).fill(nowMs - HOUR_MS), ...used].slice(-limit);
  const aboutAt = (index: number): string | null => {
    if (limit === null) return null;
    const slotMs = (slots[index % limit] ?? nowMs) + HOUR_MS * (Math.floor(index / limit) + 1);
    return new Date(Math.max(slotMs, closedUntilMs, nowMs)).toISOString();
  };
  return Object.fromEntries(
    waiting.map(({ site }, index) => [site, { number: index + 1, of: waiting.length, aboutAt: aboutAt(index) }]),
  );
}
