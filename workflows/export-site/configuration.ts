import { proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../../activities/create-activities.ts';
import type { SiteSettings } from '../../contract/settings.ts';
import { type SettingsSource, watchSettings } from '../entity/configuration.ts';
import { settingsRead } from '../retry/activity-timeouts.ts';
import type { SiteRun } from './run.ts';
import { configureTargets } from './targets.ts';
import { reportUnconfigured, retryAfterConfigChange } from './transitions.ts';

const { readSiteSettings } = proxyActivities<Activities>(settingsRead);

export function settingsSource(run: SiteRun): SettingsSource<SiteSettings> {
  const { site, state } = run;
  return {
    what: `the site ${site}`,
    run,
    read: (options) => readSiteSettings.executeWithOptions(options, [{ site }]),
    onAdopted(settings) {
      if (configureTargets(state, settings)) run.refreshChanges++;
    },
    reportMissing({ message, operators }) {
      reportUnconfigured(state, message);
      // A site without settings has no operators of its own.
      if (state.settings === null) run.settings = { ...run.settings, operators };
    },
  };
}

export async function watchConfiguration(run: SiteRun): Promise<void> {
  await watchSettings(settingsSource(run), () => {
    retryAfterConfigChange(run.state);
    run.refreshChanges++;
  });
}
