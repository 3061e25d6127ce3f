import {
  ApplicationFailure,
  allHandlersFinished,
  condition,
  continueAsNew,
  defineQuery,
  defineSignal,
  defineUpdate,
  proxyActivities,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import type { Activities } from '../activities/create-activities.ts';
import type { SiteMailInput } from '../activities/reviewers/mail-input.ts';
import { QUERIES, SIGNALS, UPDATES } from '../contract/names.ts';
import { type PublishedSignal, publishedSignal } from '../contract/publish-event.ts';
import type { SiteState } from '../contract/site-state.ts';
import { createSeenDeliveries } from './deliveries/seen-deliveries.ts';
import { rereadSettings } from './entity/configuration.ts';
import { shouldContinueAsNew } from './entity/continue-as-new.ts';
import { runUntil, waitAtMost } from './entity/coroutines.ts';
import { handleSignal } from './entity/handle-signal.ts';
import { settingsSource, watchConfiguration } from './export-site/configuration.ts';
import { cancelJob, exportLoop } from './export-site/export.ts';
import { refreshLinks, refreshLoop, watchPins } from './export-site/refresh.ts';
import { rollBack } from './export-site/rollback.ts';
import { newRun, newState, restoreState, type SiteRun, serializeState } from './export-site/state.ts';
import { firstToExpire } from './export-site/targets.ts';
import { applyDeliveries, endBackOff, requestExport, setPaused } from './export-site/transitions.ts';
import { lastErrorOf, siteStateOf, watchVisibility } from './export-site/visibility.ts';
import { type IncidentSource, notifyOperators } from './mails/notify-operators.ts';
import { mailTimeouts } from './retry/activity-timeouts.ts';

export type ExportSiteInput = {
  /** The site's name in galley.yaml. */
  site: string;
  /** From the previous run (`serializeState`); missing in the first run. */
  carry?: unknown;
};

export const published = defineSignal<[PublishedSignal]>(SIGNALS.published);
export const configChanged = defineSignal(SIGNALS.configChanged);
export const getState = defineQuery<SiteState>(QUERIES.state);
/** Exports now, without a quiet period. */
export const exportNow = defineUpdate<SiteState>(UPDATES.exportNow);
/** Refreshes all links now. Returns when they are deployed. */
export const refreshNow = defineUpdate<SiteState>(UPDATES.refreshNow);
/** Collects publishes without exporting them until `resume`. The deployed links are still refreshed. */
export const pause = defineUpdate<SiteState>(UPDATES.pause);
export const resume = defineUpdate<SiteState>(UPDATES.resume);
/** Ends the workflow and cancels the running export. Returns the last state. */
export const remove = defineUpdate<SiteState>(UPDATES.remove);
/** Deploys an earlier job, by its id or its version, until the next publish. */
export const rollback = defineUpdate<SiteState, [string]>(UPDATES.rollback);

const { sendSiteMail } = proxyActivities<Activities>(mailTimeouts);

/** After this time without a response the service is down, and there is no job to cancel. */
const START_TIMEOUT_MS = 30_000;

/**
 * One site: collects publishes, exports them, deploys the newest export and refreshes its link before it expires. Exports and
 * refreshes run concurrently. Runs until an operator removes the site.
 *
 * Runs of earlier releases replay this code. Guard every change of its commands (an activity, timer or attribute more, less
 * or in another order) with `patched('<what>-<yyyy-mm>')`, and remove the guard a release later, after `deprecatePatch`: a
 * new build makes every run continue as new, so none needs the old branch for long. test/replay checks this.
 */
export async function exportSite(input: ExportSiteInput): Promise<void> {
  const { state, seen } =
    input.carry === undefined
      ? { state: newState(Date.now()), seen: createSeenDeliveries() }
      : restoreState(input.carry);
  const run = newRun(input.site, state, seen);
  // Before the first await, so that no signal is handled later than what the flow does.
  setHandlers(run);

  if (await rereadSettings(settingsSource(run))) {
    if (!isConfigured(run)) {
      const whileUnconfigured = [
        () => watchConfiguration(run),
        () => notifyOperators(incidentSource(run)),
        () => watchVisibility(run),
      ];
      await runUntil(whileUnconfigured, () => isConfigured(run) || (mustEnd(run) && canEnd(run)));
    }
    if (isConfigured(run)) {
      await runUntil(
        [
          () => exportLoop(run),
          () => refreshLoop(run),
          () => watchConfiguration(run),
          () => watchPins(run),
          () => notifyOperators(incidentSource(run)),
          () => watchVisibility(run),
        ],
        () => mustEnd(run) && canEnd(run),
      );
    }
  }
  await condition(() => canEnd(run));
  if (run.removed) return;
  await continueAsNew<typeof exportSite>({ site: run.site, carry: serializeState(run.state, run.seen) });
}

function setHandlers(run: SiteRun): void {
  const { state } = run;
  handleSignal(published, publishedSignal, (signal) => {
    applyDeliveries(state, run.seen, signal, { ms: Date.now(), workflowId: workflowInfo().workflowId });
  });
  setHandler(configChanged, () => {
    run.configChanged = true;
  });
  setHandler(getState, () => siteStateOf(run));

  setHandler(
    exportNow,
    () => {
      requestExport(state, Date.now());
      endBackOff(state);
      return siteStateOf(run);
    },
    { validator: () => rejectIf(state.paused, 'the site is paused: resume it first') },
  );
  setHandler(
    refreshNow,
    async () => {
      await refreshLinks(run, { force: true });
      const { refreshError } = state;
      if (refreshError) throw ApplicationFailure.nonRetryable(refreshError.message, 'RefreshFailed');
      return siteStateOf(run);
    },
    { validator: () => rejectIf(state.live === null, 'nothing is deployed yet, so there is no link to refresh') },
  );
  setHandler(pause, () => {
    setPaused(state, true);
    return siteStateOf(run);
  });
  setHandler(resume, () => {
    setPaused(state, false);
    return siteStateOf(run);
  });
  setHandler(remove, () => removeSite(run));
  setHandler(
    rollback,
    async (versionOrJobId) => {
      await rollBack(run, versionOrJobId);
      return siteStateOf(run);
    },
    { validator: (name: unknown) => rejectIf(!isJobName(name), 'expected a version or the id of a completed job') },
  );
}

/** Cancels the running export and drops what is pending. What is deployed stays, but its link is no longer refreshed. */
async function removeSite(run: SiteRun): Promise<SiteState> {
  const lastState = siteStateOf(run);
  run.removed = true;
  const { exporting } = run.state;
  if (exporting !== null) {
    const isStarted = (): boolean => exporting.stage !== 'starting' || run.state.exporting !== exporting;
    const summary = 'the start of the export that is to be cancelled';
    if (!isStarted()) await waitAtMost(isStarted, START_TIMEOUT_MS, summary);
    const { stage, jobId } = exporting;
    if (stage === 'polling' && jobId !== null) await cancelJob(jobId, 'the site was removed');
  }
  return lastState;
}

function incidentSource(run: SiteRun): IncidentSource<SiteMailInput['event']> {
  const { state, site } = run;
  return {
    state,
    isFailing: () => lastErrorOf(state) !== null,
    operators: () => run.settings.operators ?? [],
    notifyAfterMs: () => run.settings.tellAfterMs ?? 0,
    events: { failing: 'site-trouble', recovered: 'site-recovered' },
    patch: 'tell-operators-2026-11',
    send(event, since) {
      const mail = {
        site,
        domain: run.settings.domain,
        workflowId: workflowInfo().workflowId,
        event,
        since: since.toISOString(),
        error: lastErrorOf(state),
        version: state.live?.version ?? null,
        linkExpiresAt: firstToExpire(state)?.expiresAt ?? null,
      };
      return (to, summary) => sendSiteMail.executeWithOptions({ summary }, [{ ...mail, to }]);
    },
  };
}

/** Publishes wait until a worker knows the site's settings. */
function isConfigured({ state }: SiteRun): boolean {
  return state.settings !== null;
}

function mustEnd(run: SiteRun): boolean {
  return run.removed || shouldContinueAsNew(run);
}

/** No deployment is being written to, and every update is answered. */
function canEnd(run: SiteRun): boolean {
  return run.deploysWaiting === 0 && allHandlersFinished();
}

function isJobName(value: unknown): boolean {
  return typeof value === 'string' && value.trim() === value && value.length > 0 && value.length <= 500;
}

function rejectIf(rejected: boolean, why: string): void {
  if (rejected) throw ApplicationFailure.nonRetryable(why, 'Refused');
}
