import { allHandlersFinished, condition, continueAsNew } from '@temporalio/workflow';
import { createSeenDeliveries } from './deliveries/seen-deliveries.ts';
import { rereadSettings } from './entity/configuration.ts';
import { shouldContinueAsNew } from './entity/continue-as-new.ts';
import { runUntil } from './entity/coroutines.ts';
import { readPins, settingsSource, watchConfiguration } from './export-site/configuration.ts';
import { exportLoop } from './export-site/export.ts';
import { drainDeployments, followDeployments } from './export-site/follow.ts';
import { setHandlers } from './export-site/handlers.ts';
import { incidentSource, mailNotices } from './export-site/notices.ts';
import { moveSite } from './export-site/rename.ts';
import { newRun, type SiteRun } from './export-site/run.ts';
import { newState, restoreState, serializeState } from './export-site/state.ts';
import { watchVisibility } from './export-site/visibility.ts';
import { watchPins } from './export-site/watch-pins.ts';
import { notifyOperators } from './mails/notify-operators.ts';
import { watchOutbox } from './notifications/outbox.ts';

export type ExportSiteInput = {
  /** The site's name in galley.yaml. */
  site: string;
  /** The previous run's state (`serializeState`); missing in the first run. */
  carry?: unknown;
};

/**
 * One site: publishes → export → judgement → newest; the deployments follow, each on its own. Runs until an operator removes
 * or renames the site.
 *
 * docs/development.md says how its commands (activities, timers, attributes and their order) may change.
 */
export async function exportSite(input: ExportSiteInput): Promise<void> {
  const { state, seen } =
    input.carry === undefined
      ? { state: newState(Date.now()), seen: createSeenDeliveries() }
      : restoreState(input.carry);
  const run = newRun(input.site, state, seen);
  // Before the first await, so that no signal is handled later than what the flow does.
  setHandlers(run);

  const always = [
    () => watchConfiguration(run),
    () => notifyOperators(incidentSource(run)),
    () => watchVisibility(run),
  ];
  const onceConfigured = [
    () => readPins(run),
    () => exportLoop(run),
    () => followDeployments(run),
    () => drainDeployments(run, () => mustEnd(run)),
    () => watchPins(run),
    () => watchOutbox(run),
    () => mailNotices(run),
    () => watchForBugs(run),
  ];
  await rereadSettings(settingsSource(run));
  const isOver = (): boolean => mustEnd(run) && canEnd(run);
  if (!isConfigured(run)) await runUntil(always, () => isConfigured(run) || isOver());
  if (isConfigured(run)) await runUntil([...always, ...onceConfigured], isOver);
  await condition(() => canEnd(run));
  if (run.rename !== null && (await moveSite(run, run.rename))) return;
  const next = run.removed ? run.successor : run;
  if (next === null) return;
  await continueAsNew<typeof exportSite>({ site: run.site, carry: serializeState(next.state, next.seen) });
}

/** Publishes wait until a worker knows the site's settings. */
function isConfigured({ state }: SiteRun): boolean {
  return state.settings !== null;
}

function mustEnd(run: SiteRun): boolean {
  return run.removed || run.rename !== null || shouldContinueAsNew(run);
}

/** No deployment is being written to, and every update is answered, except the rename itself. */
function canEnd({ lanes, rename, acting }: SiteRun): boolean {
  const isAnswered = rename === null ? allHandlersFinished() : acting === 1;
  return isAnswered && [...lanes.values()].every(({ write }) => write === null);
}

/** Fails the workflow task, which Temporal retries until a fixed release runs. */
async function watchForBugs(run: SiteRun): Promise<void> {
  await condition(() => run.bug !== undefined);
  throw run.bug;
}
