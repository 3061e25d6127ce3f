import { backoff } from '../../base/backoff.ts';
import type { PublishEvent } from '../../contract/publish-event.ts';
import type { SiteSettings } from '../../contract/settings.ts';
import { DIGITS, hash64 } from '../deliveries/hash64.ts';
import { createWaitingBodies } from '../deliveries/waiting-bodies.ts';
import { addTraces } from '../tracing/span.ts';
import type { Deployment, HeldLink, Pending } from './state.ts';

/** When to export and when to refresh: pure functions. */

/** The export itself failed: its content or the configuration has to change. */
export const exportDelayMs = backoff({ firstMs: 30_000, maxMs: 3_600_000 });
export type DebounceSettings = { quietPeriodMs: number; maxWaitMs: number };

/** Adds publishes, in any order of their times. A retry that was due ends, and a new burst begins. */
export function addPublishes(
  pending: Pending | null,
  publishes: { count: number; newest: PublishEvent; bodies?: string[] },
  nowMs: number,
): Pending {
  return {
    count: (pending?.count ?? 0) + publishes.count,
    oldestAtMs: Math.min(oldestPublishMs(pending) ?? nowMs, nowMs),
    firstAtMs: pending === null || pending.immediate ? nowMs : Math.min(pending.firstAtMs, nowMs),
    lastAtMs: pending === null || pending.immediate ? nowMs : Math.max(pending.lastAtMs, nowMs),
    newest: publishes.newest,
    bodies: publishes.bodies ?? pending?.bodies ?? [],
    immediate: false,
    request: pending?.request ?? null,
  };
}

/** Null if only requests wait. */
export function oldestPublishMs(pending: Pick<Pending, 'count' | 'oldestAtMs'> | null): number | null {
  return pending !== null && pending.count > 0 ? pending.oldestAtMs : null;
}

/** Makes what waits due at once, even if that is no publish. */
export function addRequest(pending: Pending | null, nowMs: number, request: Pending['request'] = null): Pending {
  const nothing = { count: 0, oldestAtMs: nowMs, firstAtMs: nowMs, lastAtMs: nowMs, newest: null, bodies: [] };
  return { ...(pending ?? nothing), immediate: true, request };
}

/** Adds the publishes of an unfinished export to those that came since. */
export function putBack(unfinished: Pending, since: Pending | null): Pending {
  if (since === null) return unfinished;
  return {
    count: unfinished.count + since.count,
    oldestAtMs: Math.min(
      oldestPublishMs(unfinished) ?? since.oldestAtMs,
      oldestPublishMs(since) ?? unfinished.oldestAtMs,
    ),
    firstAtMs: unfinished.immediate ? since.firstAtMs : Math.min(unfinished.firstAtMs, since.firstAtMs),
    lastAtMs: Math.max(unfinished.lastAtMs, since.lastAtMs),
    newest: since.newest ?? unfinished.newest,
    bodies: createWaitingBodies([...unfinished.bodies, ...since.bodies]).hashes(),
    immediate: since.immediate,
    ...addTraces(unfinished.traces, since.traces ?? []),
    request: since.request ?? unfinished.request,
  };
}

/** The export starts after a quiet period, but at most `maxWait` after the first publish of the burst. */
export function exportDueAtMs(pending: Pending, { quietPeriodMs, maxWaitMs }: DebounceSettings): number {
  if (pending.immediate) return pending.firstAtMs;
  return Math.min(pending.lastAtMs + quietPeriodMs, pending.firstAtMs + maxWaitMs);
}

/**
 * Whether a newer publish replaces the running export (`whenBusy: cancel`). Not once the oldest publish has waited for
 * `maxWait`: otherwise constant publishing would never be exported.
 */
export function shouldReplace(
  running: Pick<Pending, 'oldestAtMs'>,
  since: Pending | null,
  settings: { whenBusy: 'queue' | 'cancel'; maxWaitMs: number },
  nowMs: number,
): boolean {
  return settings.whenBusy === 'cancel' && since !== null && nowMs - running.oldestAtMs < settings.maxWaitMs;
}

/** Links due within this share of their lifetime are refreshed together. */
export const TOGETHER_SHARE = 0.1;

/** Sites refresh up to this share of the margin earlier or later, so that they don't all refresh at the same time. */
const JITTER_SHARE = 0.1;

type RefreshTimes = {
  /** The time from when the link was obtained to its end; 0 or less if it had already expired. */
  lifetimeMs: number;
  /** The share of the lifetime, before its end, at which the link is refreshed. */
  marginShare: number;
  /** The duration of the last refresh, from the request to the written file. */
  lastTookMs: number;
  minIntervalMs: number;
  site: string;
};

/**
 * The delay between obtaining a link and refreshing it. The margin is at least the duration of the last refresh. The delay is
 * at least `minIntervalMs`, because expired links must not cause a hot loop.
 */
export function refreshDelayMs({ lifetimeMs, marginShare, lastTookMs, minIntervalMs, site }: RefreshTimes): number {
  const shareMs = Math.max(lifetimeMs, 0) * marginShare * (1 + JITTER_SHARE * jitterOf(site));
  const marginMs = Math.max(shareMs, lastTookMs);
  return Math.max(Math.floor(lifetimeMs - marginMs), minIntervalMs);
}

type RefreshFacts = { site: string; settings: Pick<SiteSettings, 'refreshMargin' | 'minRefreshIntervalMs'> };

/** When a link is due to be refreshed if nothing hinders it. */
export function plannedRefreshAtMs(
  { written }: Pick<Deployment, 'written'>,
  { obtainedAtMs, lifetimeMs }: HeldLink,
  { site, settings }: RefreshFacts,
): number {
  const { refreshMargin: marginShare, minRefreshIntervalMs: minIntervalMs } = settings;
  const lastTookMs = written?.tookMs ?? 0;
  return obtainedAtMs + refreshDelayMs({ lifetimeMs, marginShare, lastTookMs, minIntervalMs, site });
}

/**
 * When the link of what is there was due, and when operators are told that the pull request with a fresh one, or with another
 * version, is still open: a tenth of the lifetime later. Null if none is open.
 */
export function overdueProposal(
  deployment: Pick<Deployment, 'written' | 'proposed'>,
  facts: RefreshFacts,
): { dueAtMs: number; tellAtMs: number } | null {
  const link = deployment.written?.link;
  if (deployment.proposed === null || !link) return null;
  const dueAtMs = plannedRefreshAtMs(deployment, link, facts);
  return { dueAtMs, tellAtMs: dueAtMs + Math.max(link.lifetimeMs, 0) * TOGETHER_SHARE };
}

/** A number from -1 to 1, constant for a site and evenly distributed over sites. */
export function jitterOf(site: string): number {
  const value = [...hash64(site).slice(0, 3)].reduce((sum, letter) => sum * 64 + DIGITS.indexOf(letter), 0);
  return (value / (64 ** 3 - 1)) * 2 - 1;
}
