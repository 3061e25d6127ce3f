import { allHandlersFinished, condition, continueAsNew } from '@temporalio/workflow';
import { isOtherBuild } from './coroutines/builds.ts';
import { isLong } from './coroutines/continuing.ts';
import { runUntil } from './coroutines/run-until.ts';
import { createSeenDeliveries } from './deliveries/seen-deliveries.ts';
import { fromCarry, toCarry } from './export-site/carry.ts';
import { exportLoop } from './export-site/export-loop.ts';
import { answerMessages } from './export-site/messages.ts';
import { showPresence } from './export-site/presence.ts';
import { refreshLoop } from './export-site/refresh.ts';
import { freshMemory } from './export-site/site-memory.ts';
import { newRun, type SiteRun } from './export-site/site-run.ts';
import { sourceOf, watchConfiguration } from './export-site/site-settings.ts';
import { siteTrouble } from './export-site/trouble.ts';
import { watchPins } from './export-site/watch-pins.ts';
import { tellOperators } from './mails/tell-operators.ts';
import { rereadSettings } from './settings/read-settings.ts';

export type ExportSiteInput = {
  /** The site's name in galley.yaml. */
  site: string;
  /** What the last run of the chain handed over (carry.ts). A first start has none. */
  carry?: unknown;
};

/**
 * One site, until somebody removes it: publishes are collected and exported, the newest export is deployed, and
 * its link is kept fresh. Exporting and refreshing are coroutines of their own, so that neither waits for the other.
 *
 * This workflow outlives every release. A change to the commands it makes (an activity, a timer or an attribute more,
 * less, or in another order) goes behind `patched('<what>-<yyyy-mm>')`, which can be removed (by way of
 * `deprecatePatch`) a release later: a new build makes every run continue as new, so no run carries old branches long.
 * The recorded histories under test/replay hold it.
 */
export async function exportSite(input: ExportSiteInput): Promise<void> {
  const { memory, seen } =
    input.carry === undefined
      ? { memory: freshMemory(Date.now()), seen: createSeenDeliveries() }
      : fromCarry(input.carry);
  const run = newRun(input.site, memory, seen);
  // Before the first await: signals that came with the start, or while the last run ended, are taken in first.
  answerMessages(run);

  if (await rereadSettings(sourceOf(run))) {
    if (!isConfigured(run)) {
      const watching = [() => watchConfiguration(run), () => tellOperators(siteTrouble(run)), () => showPresence(run)];
      await runUntil(watching, () => isConfigured(run) || (mustEnd(run) && canEnd(run)));
    }
    // Exports and refreshes under way are interrupted where the run has to end, and go on in the next one.
    if (isConfigured(run)) {
      await runUntil(
        [
          () => exportLoop(run),
          () => refreshLoop(run),
          () => watchConfiguration(run),
          () => watchPins(run),
          () => tellOperators(siteTrouble(run)),
          () => showPresence(run),
        ],
        () => mustEnd(run) && canEnd(run),
      );
    }
  }
  await condition(() => canEnd(run));
  if (run.removed) return;
  await continueAsNew<typeof exportSite>({ site: run.site, carry: toCarry(run.memory, run.seen) });
}

/** Whether a worker ever told the site's settings. Until then publishes wait. */
function isConfigured({ memory }: SiteRun): boolean {
  return memory.settings !== null;
}

function mustEnd(run: SiteRun): boolean {
  return run.removed || run.buildChanged || isOtherBuild(run.build) || isLong();
}

/** A write to a deployment is never interrupted, and whoever waits for an update gets the answer. */
function canEnd(run: SiteRun): boolean {
  return run.deploysWaiting === 0 && allHandlersFinished();
}
