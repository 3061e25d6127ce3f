import {
  ApplicationFailure,
  allHandlersFinished,
  condition,
  continueAsNew,
  defineQuery,
  defineSignal,
  defineUpdate,
  setHandler,
} from '@temporalio/workflow';
import { QUERIES, SIGNALS, UPDATES } from '../contract/names.ts';
import { type PublishedSignal, publishedSignal } from '../contract/publish-event.ts';
import { type ActionOptions, UNKNOWN_ACTOR } from '../contract/site-action.ts';
import {
  type Acted,
  type ActionName,
  type ActionRecord,
  acted as actedPayload,
  type SiteState,
  type StateQuery,
} from '../contract/site-state.ts';
import { createSeenDeliveries } from './deliveries/seen-deliveries.ts';
import { readActionOptions, rejectIf, rejectInvalidOptions } from './entity/action-options.ts';
import { rereadSettings } from './entity/configuration.ts';
import { shouldContinueAsNew } from './entity/continue-as-new.ts';
import { runUntil, waitAtMost } from './entity/coroutines.ts';
import { handleSignal } from './entity/handle-signal.ts';
import { endBackOff } from './export-site/back-off.ts';
import { settingsSource, watchConfiguration } from './export-site/configuration.ts';
import { confirmLoop } from './export-site/confirm.ts';
import { cancelExportJob, exportLoop } from './export-site/export.ts';
import { actionBegan, actionFailed, exportEnded } from './export-site/histories.ts';
import { incidentSource, mailNotices } from './export-site/notices.ts';
import { refreshLoop, refreshNext } from './export-site/refresh.ts';
import { approveReview } from './export-site/review.ts';
import { rollBack } from './export-site/rollback.ts';
import { newRun, type SiteRun } from './export-site/run.ts';
import { newState, restoreState, serializeState } from './export-site/state.ts';
import { applyDeliveries, endReview, requestExport, setPaused } from './export-site/transitions.ts';
import { briefSiteStateOf, siteStateWithHistories, watchVisibility } from './export-site/visibility.ts';
import { watchPins } from './export-site/watch-pins.ts';
import { notifyOperators } from './mails/notify-operators.ts';
import { watchOutbox } from './notifications/outbox.ts';

export type ExportSiteInput = {
  /** The site's name in galley.yaml. */
  site: string;
  /** The previous run's state (`serializeState`); missing in the first run. */
  carry?: unknown;
};

// The handlers in `setHandlers` say what each does.
const published = defineSignal<[PublishedSignal]>(SIGNALS.published);
const acted = defineSignal<[Acted]>(SIGNALS.acted);
const configChanged = defineSignal(SIGNALS.configChanged);
const getState = defineQuery<SiteState, [StateQuery?]>(QUERIES.state);
const exportNow = defineUpdate<SiteState, [ActionOptions?]>(UPDATES.exportNow);
const refreshNow = defineUpdate<SiteState, [ActionOptions?]>(UPDATES.refreshNow);
const pause = defineUpdate<SiteState, [ActionOptions?]>(UPDATES.pause);
const resume = defineUpdate<SiteState, [ActionOptions?]>(UPDATES.resume);
const remove = defineUpdate<SiteState, [ActionOptions?]>(UPDATES.remove);
const approve = defineUpdate<SiteState, [ActionOptions?]>(UPDATES.approve);
const reject = defineUpdate<SiteState, [ActionOptions?]>(UPDATES.reject);
const rollback = defineUpdate<SiteState, [string, ActionOptions?]>(UPDATES.rollback);

/** After this time without a response the service is down, and there is no job to cancel. */
const START_TIMEOUT_MS = 30_000;

/**
 * One site: collects publishes, exports them, deploys the newest export and refreshes its link before it expires. Exports and
 * refreshes run concurrently. Runs until an operator removes the site.
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
    () => exportLoop(run),
    () => refreshLoop(run),
    () => watchPins(run),
    () => watchOutbox(run),
    () => mailNotices(run),
    () => confirmLoop(run),
  ];
  await rereadSettings(settingsSource(run));
  const isOver = (): boolean => mustEnd(run) && canEnd(run);
  if (!isConfigured(run)) await runUntil(always, () => isConfigured(run) || isOver());
  if (isConfigured(run)) await runUntil([...always, ...onceConfigured], isOver);
  await condition(() => canEnd(run));
  const next = run.removed ? run.successor : run;
  if (next === null) return;
  await continueAsNew<typeof exportSite>({ site: run.site, carry: serializeState(next.state, next.seen) });
}

function setHandlers(run: SiteRun): void {
  const { state } = run;
  handleSignal(published, publishedSignal, 'Publishes that wait for an export.', (signal) => {
    const target = run.removed ? successorOf(run) : run;
    applyDeliveries(target.state, target.seen, signal, Date.now());
  });
  handleSignal(acted, actedPayload, 'An operator acted on a rule of the site.', (action) => {
    actionBegan(state.histories, action);
  });
  const reread = (): void => {
    run.configChanged = true;
  };
  setHandler(configChanged, reread, { description: 'Reads the settings of the site again.' });
  const answer = (query?: StateQuery): SiteState =>
    query?.brief === true ? briefSiteStateOf(run) : siteStateWithHistories(run);
  setHandler(getState, answer, { description: 'The site, as GET /sites/{site} has it.' });
  setActionHandlers(run);
}

/** What operators do. Each update that isn't rejected is recorded. */
function setActionHandlers(run: SiteRun): void {
  const { state } = run;
  const validator = (options?: unknown): void => rejectUnlessRunning(run, options);
  setHandler(
    exportNow,
    (options) => {
      const { deliveryId } = readActionOptions(options);
      const action = recordAction(run, deliveryId === undefined ? 'export' : 'run-again', options, deliveryId);
      requestExport(state, Date.now(), { by: action.actor, lostBundle: false });
      endBackOff(state);
      return briefSiteStateOf(run);
    },
    {
      description: 'Exports now, without a quiet period.',
      validator(options?: unknown) {
        rejectUnlessRunning(run, options);
        rejectIf(state.paused, 'the site is paused: resume it first');
      },
    },
  );
  setHandler(refreshNow, (options) => recordOutcome(run, recordAction(run, 'refresh', options), () => refresh(run)), {
    description: 'Refreshes all links. Returns when they are deployed.',
    validator(options?: unknown) {
      rejectUnlessRunning(run, options);
      rejectIf(state.live === null, 'nothing is deployed yet, so there is no link to refresh');
    },
  });
  setHandler(pause, (options) => setPausedBy(run, true, options), {
    description: 'Collects publishes without exporting them until `resume`. The deployed links are still refreshed.',
    validator,
  });
  setHandler(resume, (options) => setPausedBy(run, false, options), { description: 'Ends a pause.', validator });
  setReviewHandlers(run);
  setHandler(remove, (options) => removeSite(run, options), {
    description: 'Ends the workflow and cancels the running export. Returns the last state.',
    validator: rejectInvalidOptions,
  });
  setHandler(
    rollback,
    (versionOrJobId, options) => {
      const action = recordAction(run, 'rollback', options, versionOrJobId);
      return recordOutcome(run, action, () => rollBack(run, versionOrJobId));
    },
    {
      description: 'Deploys an earlier job, by its id or its version, until the next publish.',
      validator(name: unknown, options?: unknown) {
        rejectUnlessRunning(run, options);
        rejectIf(!isJobName(name), 'expected a version or the id of a completed job');
      },
    },
  );
}

/** Sets the handlers for an export that a guard holds. */
function setReviewHandlers(run: SiteRun): void {
  const validator = (options?: unknown): void => {
    rejectUnlessRunning(run, options);
    rejectIf(run.state.review === null, 'no export waits for a review');
  };
  setHandler(
    approve,
    (options) => {
      const action = recordAction(run, 'approve', options, run.state.review?.version);
      return recordOutcome(run, action, () => approveReview(run));
    },
    { description: 'Deploys the export that a guard holds.', validator },
  );
  setHandler(
    reject,
    (options) => {
      recordAction(run, 'reject', options, run.state.review?.version);
      endReview(run.state, 'rejected');
      return briefSiteStateOf(run);
    },
    { description: 'Drops the export that a guard holds. The served version stays.', validator },
  );
}

/** An action on a removed site would be lost with its workflow, which ends once the last write has ended. */
function rejectUnlessRunning(run: SiteRun, options?: unknown): void {
  rejectInvalidOptions(options);
  rejectIf(run.removed, 'the site was removed, but its last deploy has not ended yet: try again later');
}

function recordAction(
  { state }: SiteRun,
  action: ActionName,
  options: unknown,
  detail: string | null = null,
): ActionRecord {
  const { actor = UNKNOWN_ACTOR } = readActionOptions(options);
  return actionBegan(state.histories, { action, actor, detail });
}

/** Waits for the end of an action. The record says why it failed. */
async function recordOutcome(run: SiteRun, action: ActionRecord, act: () => Promise<void>): Promise<SiteState> {
  try {
    await act();
  } catch (error) {
    actionFailed(action, error instanceof Error ? error.message : 'unknown');
    throw error;
  }
  return briefSiteStateOf(run);
}

async function refresh(run: SiteRun): Promise<void> {
  await refreshNext(run);
  const { refreshError } = run.state;
  if (refreshError) throw ApplicationFailure.nonRetryable(refreshError.message, 'RefreshFailed');
}

function setPausedBy(run: SiteRun, paused: boolean, options: unknown): SiteState {
  recordAction(run, paused ? 'pause' : 'resume', options);
  setPaused(run.state, paused);
  return briefSiteStateOf(run);
}

/** Cancels the running export and drops what is pending. What is deployed stays, but its link is no longer refreshed. */
async function removeSite(run: SiteRun, options: unknown): Promise<SiteState> {
  const lastState = briefSiteStateOf(run);
  recordAction(run, 'remove', options);
  run.removed = true;
  for (const { scope } of run.longWrites.values()) scope.cancel();
  const { exporting } = run.state;
  if (exporting !== null) {
    const isStarted = (): boolean => exporting.stage !== 'starting' || run.state.exporting !== exporting;
    const summary = 'the start of the export that is to be cancelled';
    if (!isStarted()) await waitAtMost(isStarted, START_TIMEOUT_MS, summary);
    const { stage, jobId } = exporting;
    if (stage === 'polling' && jobId !== null) await cancelExportJob(jobId, 'the site was removed');
    exportEnded(run.state.histories, 'canceled', { waiting: false });
  }
  return lastState;
}

/** After `remove`, a publish starts the site again, also while the last write still runs, which can take long. */
function successorOf(run: SiteRun): Pick<SiteRun, 'state' | 'seen'> {
  run.successor ??= { state: newState(Date.now()), seen: createSeenDeliveries() };
  return run.successor;
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
  return run.deploysWaiting === 0 && run.longWrites.size === 0 && allHandlersFinished();
}

function isJobName(value: unknown): boolean {
  return typeof value === 'string' && value.trim() === value && value.length > 0 && value.length <= 500;
}
