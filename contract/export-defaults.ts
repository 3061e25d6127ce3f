/**
 * A site's export settings if galley.yaml gives none. Also what a site's workflow uses until a worker knows its
 * settings.
 */
export const EXPORT_DEFAULTS = {
  timeoutMs: 6 * 3_600_000,
  quietPeriodMs: 5_000,
  maxWaitMs: 60_000,
  whenBusy: 'queue',
  refreshMargin: 0.2,
  tellAfterMs: 10 * 60_000,
} as const;

/** The limits of `guards`, as far as galley.yaml doesn't set them. Without `guards` nothing is held. */
export const GUARD_DEFAULTS = { maxShrink: 0.2, maxNewlyBroken: 50, startPage: true, proof: true } as const;

/** How long a deployment may take to serve a new version, if galley.yaml gives its `statusUrl` and no `confirmWithin`. */
export const CONFIRM_WITHIN_MS = 5 * 60_000;
