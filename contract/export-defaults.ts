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
