import { Gauge, type Registry } from 'prom-client';
import { type ListedSite, linkLateAtMs } from '../contract/site-state.ts';
import { withinDeadline } from './deadline.ts';

/** Scrapes within this time share one listing, so that several scrapers cost no more than one. */
const FRESH_FOR_MS = 10_000;
/** A scrape waits this long for the listing. Prometheus' own default timeout is 10 s. */
const DEADLINE_MS = 5_000;

type SiteMetricsDeps = {
  list: () => Promise<readonly ListedSite[]>;
  /** How many sites galley.yaml has. */
  configured: number;
};

/**
 * Adds gauges of each site with a workflow. One listing per scrape sets them all. If it fails, the gauges keep their last
 * values and `galley_sites_listed` is 0.
 */
export function addSiteMetrics(registry: Registry, { list, configured }: SiteMetricsDeps): void {
  let startedAtMs = Number.NEGATIVE_INFINITY;
  let listing: Promise<void> = Promise.resolve();
  const gauges = createGauges(registry, () => {
    if (Date.now() - startedAtMs >= FRESH_FOR_MS) {
      startedAtMs = Date.now();
      listing = refresh();
    }
    return listing;
  });
  gauges.configured.set(configured);

  async function refresh(): Promise<void> {
    try {
      const sites = await withinDeadline(DEADLINE_MS, list());
      for (const gauge of Object.values(gauges)) if (gauge !== gauges.configured) gauge.reset();
      for (const site of sites) setGauges(gauges, site, Date.now());
      gauges.listed.set(1);
    } catch {
      gauges.listed.set(0);
    }
  }
}

type Gauges = ReturnType<typeof createGauges>;

function createGauges(registry: Registry, collect: () => Promise<void>) {
  const gauge = <Label extends string>(name: string, help: string, labelNames: Label[]): Gauge<Label> =>
    new Gauge({ name, help, labelNames, registers: [registry], collect });
  const perSite = (name: string, help: string) => gauge(name, help, ['site']);
  return {
    listed: gauge('galley_sites_listed', '1 if the last listing of the sites worked; if 0, their gauges are old.', []),
    configured: gauge('galley_sites_configured', 'Sites in galley.yaml.', []),
    phase: gauge('galley_site_phase', 'Always 1; the label is the phase of the site.', ['site', 'phase']),
    linkExpiry: perSite('galley_site_link_expiry_timestamp_seconds', 'When the first link of the site in use expires.'),
    linkLate: perSite('galley_site_link_late_timestamp_seconds', 'When the refresh of that link counts as late.'),
    served: perSite(
      'galley_site_served_publish_timestamp_seconds',
      'When the newest served publish of the site arrived.',
    ),
    oldestUnserved: perSite(
      'galley_site_oldest_unserved_seconds',
      'For how long the oldest publish has not been served everywhere; 0 if there is none.',
    ),
    unservedReason: gauge('galley_site_unserved_reason', 'Always 1; the label says why that publish is not served.', [
      'site',
      'reason',
    ]),
  };
}

function setGauges(gauges: Gauges, listed: ListedSite, nowMs: number): void {
  const { site, oldestUnserved } = listed;
  if (listed.phase !== undefined) gauges.phase.set({ site, phase: listed.phase }, 1);
  const set = (gauge: Gauge<'site'>, ms: number | null): void => {
    if (ms !== null) gauge.set({ site }, ms / 1000);
  };
  set(gauges.linkExpiry, listed.linkExpiresAtMs);
  set(gauges.linkLate, linkLateAtMs(listed));
  set(gauges.served, listed.servedPublishAtMs);
  if (oldestUnserved !== null) gauges.unservedReason.set({ site, reason: oldestUnserved.reason }, 1);
  set(gauges.oldestUnserved, oldestUnserved === null ? 0 : Math.max(0, nowMs - oldestUnserved.atMs));
}
