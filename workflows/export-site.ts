import {
  allHandlersFinished,
  condition,
  continueAsNew,
  defineQuery,
  defineSignal,
  defineUpdate,
  setHandler,
} from '@temporalio/workflow';
import { QUERIES, SIGNALS, SITE_NAME, UPDATES } from '../contract/names.ts';
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
import {
  approveDeployments,
  approveReview,
  refreshAll,
  rejectDeployments,
  rejectReview,
  rollBack,
  untilWritten,
  waitingForApproval,
} from './export-site/commands.ts';
import { readPins, settingsSource, watchConfiguration } from './export-site/configuration.ts';
import { cancelExportJob, exportLoop } from './export-site/export.ts';
import { drainDeployments, followDeployments } from './export-site/follow.ts';
import { actionBegan, actionFailed, exportEnded } from './export-site/histories.ts';
import { lockSite, unlockSite } from './export-site/jobs.ts';
import { incidentSource, mailNotices } from './export-site/notices.ts';
import { moveSite, renamed } from './export-site/rename.ts';
import { newRun, observed, type SiteRun } from './export-site/run.ts';
import { newState, restoreState, serializeState } from './export-site/state.ts';
import { briefSiteStateOf, siteStateWithHistories } from './export-site/status.ts';
import { applyDeliveries, requestExport, setPaused } from './export-site/transitions.ts';
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
const lock = defineUpdate<SiteState, [ActionOptions?]>(UPDATES.lock);
const unlock = defineUpdate<SiteState, [ActionOptions?]>(UPDATES.unlock);
const rename = defineUpdate<SiteState, [string, ActionOptions?]>(UPDATES.rename);
const rollback = defineUpdate<SiteState, [string, ActionOptions?]>(UPDATES.rollback);

const BEING_RENAMED = 'the site is being renamed: try again later';

/** After this time without a response the service is down, and there is no job to cancel. */
const START_TIMEOUT_MS = 30_000;

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

function setHandlers(run: SiteRun): void {
  const { state } = run;
  handleSignal(published, publishedSignal, 'Publishes that wait for an export.', (signal) => {
    const target = run.removed ? successorOf(run) : run;
    if (run.rename?.late) run.rename.late.push(signal);
    else applyDeliveries(target.state, target.seen, signal, Date.now());
  });
  handleSignal(acted, actedPayload, 'An operator acted on a rule of the site.', (action) => {
    actionBegan(state.histories, action);
  });
  const reread = (): void => {
    run.configChanged = true;
  };
  setHandler(configChanged, reread, { description: 'Reads the settings of the site again.' });
  const answer = (query?: StateQuery): SiteState =>
    query?.brief === true ? briefSiteStateOf(observed(run)) : siteStateWithHistories(observed(run));
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
      return briefSiteStateOf(observed(run));
    },
    {
      description: 'Exports now, without a quiet period.',
      validator(options?: unknown) {
        rejectUnlessRunning(run, options);
        rejectIf(state.paused, 'the site is paused: resume it first');
      },
    },
  );
  setHandler(
    refreshNow,
    (options) => recordOutcome(run, recordAction(run, 'refresh', options), () => refreshAll(run)),
    {
      description: 'Refreshes all links. Returns when they are written.',
      validator(options?: unknown) {
        rejectUnlessRunning(run, options);
        rejectIf(state.newest === null, 'nothing is deployed yet, so there is no link to refresh');
      },
    },
  );
  setHandler(pause, (options) => setPausedBy(run, true, options), {
    description: 'Collects publishes without exporting them until `resume`. The deployed links are still refreshed.',
    validator,
  });
  setHandler(resume, (options) => setPausedBy(run, false, options), { description: 'Ends a pause.', validator });
  setReviewHandlers(run);
  setLockHandlers(run);
  setEndHandlers(run);
  setHandler(
    rollback,
    (versionOrJobId, options) => {
      const { lock: locks = false, reason = null } = readActionOptions(options);
      const action = recordAction(run, 'rollback', options, versionOrJobId);
      const { at, actor: by } = action;
      return recordOutcome(run, action, () => rollBack(run, { name: versionOrJobId, by, at, reason, lock: locks }));
    },
    {
      description:
        'Deploys an earlier job, by its id or its version, until the next publish or until the site is unlocked.',
      validator(name: unknown, options?: unknown) {
        rejectUnlessRunning(run, options);
        rejectIf(!isJobName(name), 'expected a version or the id of a completed job');
      },
    },
  );
}

/** Sets the handlers for what waits for a person: an export that a guard holds, or a version for a deployment. */
function setReviewHandlers(run: SiteRun): void {
  const { state } = run;
  const validator = (options?: unknown): void => {
    rejectUnlessRunning(run, options);
    const { deployment } = readActionOptions(options);
    if (deployment === undefined && state.review !== null) return;
    const isWaiting = waitingForApproval(run, deployment).length > 0;
    rejectIf(!isWaiting, deployment === undefined ? 'no export waits for a review' : `nothing waits for ${deployment}`);
  };
  const subject = (deployment: string | undefined): string | null => deployment ?? state.review?.version ?? null;
  setHandler(
    approve,
    (options) => {
      const { deployment } = readActionOptions(options);
      const action = recordAction(run, 'approve', options, subject(deployment));
      return recordOutcome(run, action, () =>
        deployment === undefined && state.review !== null
          ? approveReview(run)
          : approveDeployments(run, waitingForApproval(run, deployment)),
      );
    },
    { description: 'Deploys the export that a guard holds, or the version that waits for a deployment.', validator },
  );
  setHandler(
    reject,
    (options) => {
      const { deployment } = readActionOptions(options);
      recordAction(run, 'reject', options, subject(deployment));
      if (deployment === undefined && state.review !== null) rejectReview(run);
      else rejectDeployments(run, waitingForApproval(run, deployment));
      return briefSiteStateOf(observed(run));
    },
    { description: 'Drops the export that a guard holds, or skips a version for a deployment.', validator },
  );
}

function setLockHandlers(run: SiteRun): void {
  const { state } = run;
  setHandler(
    lock,
    (options) => {
      const { reason = null } = readActionOptions(options);
      const { at, actor: by } = recordAction(run, 'lock', options, reason);
      lockSite(state, { by, at, reason });
      run.changes++;
      return briefSiteStateOf(observed(run));
    },
    {
      description: 'Keeps what is deployed, whatever is published, until `unlock`. Links are still refreshed.',
      validator: (options?: unknown) => rejectUnlessRunning(run, options),
    },
  );
  setHandler(
    unlock,
    (options) => {
      const action = recordAction(run, 'unlock', options);
      unlockSite(state);
      run.changes++;
      return recordOutcome(run, action, async () => {
        await untilWritten(run);
      });
    },
    {
      description: 'Ends a lock: the newest version is deployed at once.',
      validator(options?: unknown) {
        rejectUnlessRunning(run, options);
        rejectIf(state.lock === null, 'the site is not locked');
      },
    },
  );
}

/** Sets the handlers for what ends the workflow. */
function setEndHandlers(run: SiteRun): void {
  setHandler(remove, (options) => removeSite(run, options), {
    description: 'Ends the workflow and cancels the running export. Returns the last state.',
    validator(options?: unknown) {
      rejectInvalidOptions(options);
      rejectIf(run.rename !== null, BEING_RENAMED);
    },
  });
  setHandler(
    rename,
    async (to, options) => {
      const action = recordAction(run, 'rename', options, `${run.site} to ${to}`);
      run.rename = { to, late: null, outcome: null };
      try {
        await renamed(run.rename);
      } catch (error) {
        failed(action, error);
        throw error;
      }
      return { ...briefSiteStateOf(observed(run)), site: to };
    },
    {
      description: 'Continues the site under another name, with its histories, deployments, links and lock.',
      validator(to: unknown, options?: unknown) {
        rejectUnlessRunning(run, options);
        const isName = typeof to === 'string' && SITE_NAME.test(to) && to !== run.site;
        rejectIf(!isName, 'expected another name: letters, digits and "-", at most 63 characters');
      },
    },
  );
}

/** An action on a removed site would be lost with its workflow, which ends once the last write has ended. */
function rejectUnlessRunning(run: SiteRun, options?: unknown): void {
  rejectInvalidOptions(options);
  rejectIf(run.removed, 'the site was removed, but its last deploy has not ended yet: try again later');
  rejectIf(run.rename !== null, BEING_RENAMED);
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
  run.acting++;
  try {
    await act();
  } catch (error) {
    failed(action, error);
    throw error;
  } finally {
    run.acting--;
  }
  return briefSiteStateOf(observed(run));
}

function failed(action: ActionRecord, error: unknown): void {
  actionFailed(action, error instanceof Error ? error.message : 'unknown');
}

function setPausedBy(run: SiteRun, paused: boolean, options: unknown): SiteState {
  recordAction(run, paused ? 'pause' : 'resume', options);
  setPaused(run.state, paused);
  return briefSiteStateOf(observed(run));
}

/** Cancels the running export and drops what is pending. What is deployed stays, but its link is no longer refreshed. */
async function removeSite(run: SiteRun, options: unknown): Promise<SiteState> {
  const lastState = briefSiteStateOf(observed(run));
  recordAction(run, 'remove', options);
  run.removed = true;
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
  return run.removed || run.rename !== null || shouldContinueAsNew(run);
}

/** No deployment is being written to, and every update is answered, except the rename itself. */
function canEnd({ lanes, rename, acting }: SiteRun): boolean {
  const isAnswered = rename === null ? allHandlersFinished() : acting === 0;
  return isAnswered && [...lanes.values()].every(({ write }) => write === null);
}

/** Fails the workflow task, which Temporal retries until a fixed release runs. */
async function watchForBugs(run: SiteRun): Promise<void> {
  await condition(() => run.bug !== undefined);
  throw run.bug;
}

function isJobName(value: unknown): boolean {
  return typeof value === 'string' && value.trim() === value && value.length > 0 && value.length <= 500;
}
