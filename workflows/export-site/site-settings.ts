import type { SiteSettings } from '../../contract/settings.ts';
import { toldOtherBuild } from '../coroutines/builds.ts';
import { type SettingsSource, watchSettings } from '../settings/read-settings.ts';
import { readSiteSettings } from './activity-proxies.ts';
import { endBackOff } from './export-back-off.ts';
import type { SiteRun } from './site-run.ts';
import { adoptPins, adoptTargets } from './targets.ts';

/** Where a site gets its settings from, and what it does with them. */
export function sourceOf(run: SiteRun): SettingsSource<SiteSettings> {
  const { site, memory } = run;
  return {
    what: `the site ${site}`,
    run,
    read: (options) => readSiteSettings.executeWithOptions(options, [{ site }]),
    adopt: (settings) => adopt(run, settings),
    noteMissing({ message, operators }) {
      memory.unconfigured = { message, status: null, at: memory.unconfigured?.at ?? new Date().toISOString() };
      // A site that no worker ever knew has no operators of its own.
      if (memory.settings === null) run.settings = { ...run.settings, operators };
    },
    takenOut() {
      run.removed = true;
      return false;
    },
  };
}

/** Follows the configuration. A changed one ends every wait after a failure: it may have mended the cause. */
export async function watchConfiguration(run: SiteRun): Promise<void> {
  const first = run.settings;
  await watchSettings(sourceOf(run), () => {
    run.buildChanged = toldOtherBuild(first, run.settings);
    endBackOff(run.memory);
    for (const link of run.memory.links) link.notBeforeMs = 0;
    for (const target of run.memory.targets) target.searchedPin = null;
    run.refreshChanges++;
  });
}

function adopt(run: SiteRun, settings: SiteSettings): void {
  const { memory } = run;
  run.settings = settings;
  memory.settings = settings;
  memory.unconfigured = null;
  const before = memory.targets;
  memory.targets = adoptTargets(before, settings.valuesFiles);
  const repinned = adoptPins(memory, settings.pins ?? []);
  if (repinned || memory.targets.some((target, index) => target !== before[index])) run.refreshChanges++;
}
