import type { ActivityOptions, CancellationScope } from '@temporalio/workflow';
import type { SiteSettings } from '../../contract/settings.ts';
import { currentBuild } from '../coroutines/builds.ts';
import type { SeenDeliveries } from '../deliveries/seen-deliveries.ts';
import { readSettings, type SettingsReading, waitForSettings } from '../settings/read-settings.ts';
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

/**
 * Reads the site's section of the configuration anew. Where no worker knows it, the last known one stays in force, and the
 * state says so. Tells false where the run is to end, as runs of releases before 0.2 did.
 */
export async function rereadSettings(run: SiteRun): Promise<boolean> {
  const reading = await readSettings(reader(run, `settings of ${run.site}`));
  if (reading === null) {
    run.removed = true;
    return false;
  }
  if ('settings' in reading) adoptSettings(run, reading.settings);
  else noteUnconfigured(run, reading);
  return true;
}

/** Waits for a worker that knows the site, for as long as none does. */
export async function settingsToCome(run: SiteRun): Promise<void> {
  const { memory } = run;
  const over = (): boolean => run.configChanged || memory.unconfigured === null;
  const settings = await waitForSettings(reader(run, `until a worker knows the site ${run.site}`), over);
  if (settings !== null) adoptSettings(run, settings);
}

function reader({ site }: SiteRun, summary: string) {
  return (options: ActivityOptions) => readSiteSettings.executeWithOptions({ ...options, summary }, [{ site }]);
}

function adoptSettings(run: SiteRun, settings: SiteSettings): void {
  const { memory } = run;
  run.settings = settings;
  memory.settings = settings;
  memory.unconfigured = null;
  const before = memory.targets;
  memory.targets = adoptTargets(before, settings.valuesFiles);
  const repinned = adoptPins(memory, settings.pins ?? []);
  if (repinned || memory.targets.some((target, index) => target !== before[index])) run.refreshChanges++;
}

function noteUnconfigured(
  run: SiteRun,
  { missing, operators }: Extract<SettingsReading<unknown>, { missing: string }>,
): void {
  const at = run.memory.unconfigured?.at ?? new Date().toISOString();
  run.memory.unconfigured = { message: missing.slice(0, 500), status: null, at };
  // A site that no worker ever knew has no operators of its own.
  if (run.memory.settings === null) run.settings = { ...run.settings, operators };
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
