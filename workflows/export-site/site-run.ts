import type { CancellationScope } from '@temporalio/workflow';
import type { SiteSettings } from '../../contract/settings.ts';
import { currentBuild } from '../coroutines/builds.ts';
import type { SeenDeliveries } from '../deliveries/seen-deliveries.ts';
import type { SiteMemory } from './site-memory.ts';

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
  /** The last write to each deployment, by its values file. */
  lastWrites: Map<string, Promise<unknown>>;
  /** Somebody removed the site: the run ends for good. */
  removed: boolean;
  /** The configuration should be read again. */
  configChanged: boolean;
  /** The build that the run began with. */
  build: string;
  /** Another build took over, as releases before 0.2 learned it. */
  buildChanged: boolean;
};

/** Stands in until a worker told the settings, which is the first thing that a site waits for. */
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
    tellAfterMs: 10 * 60_000,
    searchAttributes: false,
  };
}

export function newRun(site: string, memory: SiteMemory, seen: SeenDeliveries): SiteRun {
  return {
    site,
    memory,
    seen,
    settings: memory.settings ?? unreadSettings(site),
    exportScope: null,
    refreshScope: null,
    refreshChanges: 0,
    deploysWaiting: 0,
    lastWrites: new Map(),
    removed: false,
    configChanged: false,
    build: currentBuild(),
    buildChanged: false,
  };
}
