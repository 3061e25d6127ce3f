import { proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../../activities/create-activities.ts';
import type { SiteSettings } from '../../contract/settings.ts';
import { type SettingsSource, watchSettings } from '../entity/configuration.ts';
import { isFromOtherBuild } from '../entity/continue-as-new.ts';
import { quickActivity } from '../retry/activity-timeouts.ts';
import type { SiteRun } from './run.ts';
import { configureTargets } from './targets.ts';
import { reportUnconfigured, retryAfterConfigChange } from './transitions.ts';

const { readSiteSettings } = proxyActivities<Activities>(quickActivity);

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
    replayRemoval() {
      run.removed = true;
      return false;
    },
  };
}

export async function watchConfiguration(run: SiteRun): Promise<void> {
  const first = run.settings;
  await watchSettings(settingsSource(run), () => {
    run.buildChanged = isFromOtherBuild(first, run.settings);
    retryAfterConfigChange(run.state);
    run.refreshChanges++;
  });
}
