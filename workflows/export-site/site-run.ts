import type { CancellationScope } from '@temporalio/workflow';
import type { SiteSettings } from '../../activities/sites/read-site-settings.ts';
import type { SeenDeliveries } from '../deliveries/seen-deliveries.ts';
import { readSiteSettings } from './activity-proxies.ts';
import type { SiteMemory } from './site-memory.ts';
import { adoptPins, adoptTargets } from './targets.ts';

/** One run of a site's workflow: what its coroutines share. Only `memory` and `seen` live on in the next run. */
export type SiteRun = {
  site: string;
  memory: SiteMemory;
  seen: SeenDeliveries;
  /** As last read. */
  settings: SiteSettings;
  /** The export's own scope, to be cancelled where a newer publish or a rollback replaces it. */
  exportScope: CancellationScope | null;
  /** The refresh's own scope, to be cancelled where its link is no longer wanted. */
  refreshScope: CancellationScope | null;
  /** Grows with everything that may change when the next refresh is due. */
  refreshChanges: number;
  /** Deployments that are being written to, or wait for it. */
  deploysWaiting: number;
  lastDeploy: Promise<void>;
  /** The site is no longer configured. */
  removed: boolean;
  /** The configuration should be read again. */
  configChanged: boolean;
  /** Another build took over. */
  buildChanged: boolean;
};

/** Stands in until the settings were read, which is the first thing a run does. */
export function unreadSettings(site: string): SiteSettings {
  return {
    domain: site,
    timeoutMs: 6 * 3_600_000,
    quietPeriodMs: 5_000,
    maxWaitMs: 60_000,
    whenBusy: 'queue',
    refreshMargin: 0.2,
    minRefreshIntervalMs: 30_000,
    valuesFiles: [],
    searchAttributes: false,
    build: '',
  };
}

/** Reads the site's section of the configuration anew. Tells false where the site is no longer there: the run ends. */
export async function rereadSettings(run: SiteRun): Promise<boolean> {
  const settings = await readSiteSettings.executeWithOptions({ summary: `settings of ${run.site}` }, [
    { site: run.site },
  ]);
  if (settings === null) {
    run.removed = true;
    return false;
  }
  run.settings = settings;
  const before = run.memory.targets;
  run.memory.targets = adoptTargets(before, settings.valuesFiles);
  const repinned = adoptPins(run.memory, settings.pins ?? []);
  if (repinned || run.memory.targets.some((target, index) => target !== before[index])) run.refreshChanges++;
  return true;
}

export function newRun(site: string, memory: SiteMemory, seen: SeenDeliveries): SiteRun {
  return {
    site,
    memory,
    seen,
    settings: unreadSettings(site),
    exportScope: null,
    refreshScope: null,
    refreshChanges: 0,
    deploysWaiting: 0,
    lastDeploy: Promise.resolve(),
    removed: false,
    configChanged: false,
    buildChanged: false,
  };
}
