import { isCancellation, proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../../activities/create-activities.ts';
import type { SiteSettings } from '../../contract/settings.ts';
import { type SettingsSource, watchSettings } from '../entity/configuration.ts';
import { readFailure } from '../failures/read-failure.ts';
import { inPoolOf, quickActivity, settingsRead } from '../retry/activity-timeouts.ts';
import { adoptSwitches, configureDeployments } from './deployments.ts';
import type { SiteRun } from './run.ts';
import { reportUnconfigured, retryAfterConfigChange } from './transitions.ts';
import { isLocalFile } from './write.ts';

const { readSiteSettings } = proxyActivities<Activities>(settingsRead);

const { readSwitches } = proxyActivities<Activities>({
  ...quickActivity,
  ...inPoolOf({ kind: 'valuesFile', host: null }),
});

export function settingsSource(run: SiteRun): SettingsSource<SiteSettings> {
  const { site, state } = run;
  return {
    what: `the site ${site}`,
    run,
    read: (options) => readSiteSettings.executeWithOptions(options, [{ site }]),
    onAdopted(settings) {
      configureDeployments(state, settings.deployments);
      run.changes++;
    },
    reportMissing({ message, operators }) {
      reportUnconfigured(state, message);
      // A site without settings has no operators of its own.
      if (state.settings === null) run.settings = { ...run.settings, operators };
    },
  };
}

export async function watchConfiguration(run: SiteRun): Promise<void> {
  await watchSettings(settingsSource(run), async () => {
    retryAfterConfigChange(run.state);
    run.changes++;
    await readPins(run);
  });
}

/** After this time the site goes on without the pins of values files that can't be read. */
const PINS_TIMEOUT = '10s';

/**
 * Adopts what operators have set in values files on the worker's disk. Workers signal `configChanged` when they change it,
 * and the other deployments are always watched (watch-pins.ts).
 */
export async function readPins(run: SiteRun): Promise<void> {
  const files = run.state.deployments.filter(isLocalFile).map(({ place }) => place);
  if (files.length === 0) return;
  const options = { scheduleToCloseTimeout: PINS_TIMEOUT, summary: `pins of the site ${run.site}` } as const;
  try {
    const pins = await readSwitches.executeWithOptions(options, [files]);
    for (const pin of pins) if (adoptSwitches(run.state, pin)) run.changes++;
  } catch (error) {
    if (isCancellation(error)) throw error;
    readFailure(error);
  }
}
