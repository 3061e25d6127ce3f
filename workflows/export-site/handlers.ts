import { defineQuery, defineSignal, defineUpdate, patched, setHandler } from '@temporalio/workflow';
import { QUERIES, SIGNALS, SITE_NAME, UPDATES } from '../../contract/names.ts';
import { type PublishedSignal, publishedSignal } from '../../contract/publish-event.ts';
import { type ActionOptions, UNKNOWN_ACTOR } from '../../contract/site-action.ts';
import { figuresOf, type SiteFigures } from '../../contract/site-figures.ts';
import {
  type Acted,
  type ActionName,
  acted as actedPayload,
  type SiteState,
  type StateQuery,
} from '../../contract/site-state.ts';
import { createSeenDeliveries } from '../deliveries/seen-deliveries.ts';
import { readActionOptions, rejectIf, rejectInvalidOptions } from '../entity/action-options.ts';
import { handleSignal, waitAtMost } from '../entity/coroutines.ts';
import { endBackOff } from './back-off.ts';
import {
  approveDeployments,
  approveReview,
  refreshAll,
  rejectDeployments,
  rejectReview,
  rollBack,
  untilWritten,
  waitingForApproval,
} from './commands.ts';
import { cancelExportJob } from './export.ts';
import { actionBegan, actionFailed, exportEnded } from './histories.ts';
import { lockSite, unlockSite } from './jobs.ts';
import { renamed } from './rename.ts';
import { observed, type SiteRun } from './run.ts';
import { newState } from './state.ts';
import { briefSiteStateOf, siteStateWithHistories } from './status.ts';
import { applyDeliveries, requestExport, setPaused } from './transitions.ts';
import { handleGrants } from './wait-for-start.ts';

const published = defineSignal<[PublishedSignal]>(SIGNALS.published);
const acted = defineSignal<[Acted]>(SIGNALS.acted);
const configChanged = defineSignal(SIGNALS.configChanged);
const getState = defineQuery<SiteState, [StateQuery?]>(QUERIES.state);

/** After this time without a response the service is down, and there is no job to cancel. */
const START_TIMEOUT_MS = 30_000;

/** Sets the handlers of everything that reaches a site from outside. */
export function setHandlers(run: SiteRun): void {
  const { state } = run;
  handleSignal(published, publishedSignal, 'Publishes that wait for an export.', (signal) => {
    const target = run.removed ? successorOf(run) : run;
    if (run.rename?.late) run.rename.late.push({ name: 'published', payload: signal });
    else applyDeliveries(target.state, target.seen, signal, Date.now());
  });
  handleSignal(acted, actedPayload, 'An operator acted on a rule of the site.', (action) => {
    if (run.rename?.late && patched('late-actions-2026-11')) run.rename.late.push({ name: 'acted', payload: action });
    else actionBegan(state.histories, action);
  });
  const reread = (): void => {
    run.configChanged = true;
  };
  handleGrants(run);
  setHandler(configChanged, reread, { description: 'Reads the settings of the site again.' });
  const answer = (query?: StateQuery): SiteState & { figures?: SiteFigures | null } => ({
    ...(query?.brief === true ? briefSiteStateOf(observed(run)) : siteStateWithHistories(observed(run))),
    ...(query?.nowMs !== undefined && { figures: figuresOf(state.histories.exports, query.nowMs) }),
  });
  setHandler(getState, answer, { description: 'The site, as GET /sites/{site} has it.' });
  for (const [update, action] of Object.entries(actionsOf(run))) handleAction(run, update, action);
}

type Asked = { options: ActionOptions; subject: string };

/** What operators do, by an update. */
type Action = {
  description: string;
  /** What its argument before the options is, if it has one. */
  subject?: string;
  /** Throws if it isn't possible now: then the update never enters the history. */
  check?: (asked: Asked) => void;
  /** Its name and what it concerns, for people. */
  record: (asked: Asked) => [action: ActionName, detail?: string | null];
  act: (asked: Asked & { at: string; by: string }) => Promise<void> | void;
  /** What its result has instead of the site's state after it. Called before the action. */
  result?: (asked: Asked) => Partial<SiteState>;
};

const MAX_SUBJECT = 500;

/** Each action that isn't rejected is recorded, with the error if it fails. */
function handleAction(run: SiteRun, update: string, action: Action): void {
  const { description, check, record, act, result } = action;

  async function handle(...args: unknown[]): Promise<SiteState> {
    const asked = readAsked(action, args);
    const { actor: by = UNKNOWN_ACTOR } = asked.options;
    const [name, detail = null] = record(asked);
    const recorded = actionBegan(run.state.histories, { action: name, actor: by, detail });
    const given = result?.(asked);
    run.acting++;
    try {
      await act({ ...asked, at: recorded.at, by });
    } catch (error) {
      actionFailed(recorded, error instanceof Error ? error.message : 'unknown');
      throw error;
    } finally {
      run.acting--;
    }
    return { ...briefSiteStateOf(observed(run)), ...given };
  }

  function validator(...args: unknown[]): void {
    rejectInvalidOptions(args[action.subject === undefined ? 0 : 1]);
    // It would be lost with its workflow, which ends once the last write has ended.
    const isLost = run.removed && update !== UPDATES.remove;
    rejectIf(isLost, 'the site was removed, but its last deploy has not ended yet: try again later');
    rejectIf(run.rename !== null, 'the site is being renamed: try again later');
    const asked = readAsked(action, args);
    const isNamed = asked.subject.trim() === asked.subject && asked.subject.length <= MAX_SUBJECT;
    rejectIf(action.subject !== undefined && !(asked.subject && isNamed), `expected ${action.subject}`);
    check?.(asked);
  }

  setHandler(defineUpdate<SiteState, unknown[]>(update), handle, { description, validator });
}

function readAsked({ subject }: Action, args: readonly unknown[]): Asked {
  const [first, second] = args;
  if (subject === undefined) return { options: readActionOptions(first), subject: '' };
  return { options: readActionOptions(second), subject: typeof first === 'string' ? first : '' };
}

/** By their updates. */
function actionsOf(run: SiteRun): Record<string, Action> {
  const { state } = run;
  return {
    [UPDATES.exportNow]: {
      description: 'Exports now, without a quiet period.',
      check: () => rejectIf(state.paused, 'the site is paused: resume it first'),
      record: ({ options: { deliveryId } }) => (deliveryId === undefined ? ['export'] : ['run-again', deliveryId]),
      act({ by }) {
        requestExport(state, Date.now(), { by, lostBundle: false });
        endBackOff(state);
      },
    },
    [UPDATES.refreshNow]: {
      description: 'Refreshes all links. Returns when they are written.',
      check: () => rejectIf(state.newest === null, 'nothing is deployed yet, so there is no link to refresh'),
      record: () => ['refresh'],
      act: () => refreshAll(run),
    },
    [UPDATES.pause]: {
      description: 'Collects publishes without exporting them until `resume`. The deployed links are still refreshed.',
      record: () => ['pause'],
      act: () => setPaused(state, true),
    },
    [UPDATES.resume]: {
      description: 'Ends a pause.',
      record: () => ['resume'],
      act: () => setPaused(state, false),
    },
    [UPDATES.rollback]: {
      description:
        'Deploys an earlier job, by its id or its version, until the next publish or until the site is unlocked.',
      subject: 'a version or the id of a completed job',
      record: ({ subject }) => ['rollback', subject],
      act: ({ subject: name, at, by, options: { lock = false, reason = null } }) =>
        rollBack(run, { name, by, at, reason, lock }),
    },
    [UPDATES.lock]: {
      description: 'Keeps what is deployed, whatever is published, until `unlock`. Links are still refreshed.',
      record: ({ options: { reason = null } }) => ['lock', reason],
      act({ at, by, options: { reason = null } }) {
        lockSite(state, { by, at, reason });
        run.changes++;
      },
    },
    [UPDATES.unlock]: {
      description: 'Ends a lock: the newest version is deployed at once.',
      check: () => rejectIf(state.lock === null, 'the site is not locked'),
      record: () => ['unlock'],
      async act() {
        unlockSite(state);
        run.changes++;
        await untilWritten(run);
      },
    },
    ...reviewActionsOf(run),
    [UPDATES.rename]: {
      description: 'Continues the site under another name, with its histories, deployments, links and lock.',
      subject: NEW_NAME,
      check: ({ subject }) => rejectIf(!SITE_NAME.test(subject) || subject === run.site, `expected ${NEW_NAME}`),
      record: ({ subject }) => ['rename', `${run.site} to ${subject}`],
      async act({ subject: to }) {
        run.rename = { to, late: null, outcome: null };
        await renamed(run.rename);
      },
      result: ({ subject }) => ({ site: subject }),
    },
    [UPDATES.remove]: {
      description: 'Ends the workflow and cancels the running export. Returns the last state.',
      record: () => ['remove'],
      act: () => removeSite(run),
      result: () => briefSiteStateOf(observed(run)),
    },
  };
}

const NEW_NAME = 'another name: letters, digits and "-", at most 63 characters';

/** For what waits for a person: an export that a guard holds, or a version for a deployment. */
function reviewActionsOf(run: SiteRun): Record<string, Action> {
  const { state } = run;
  const isReview = ({ deployment }: ActionOptions): boolean => deployment === undefined && state.review !== null;
  function check({ options }: Asked): void {
    const { deployment } = options;
    const isWaiting = isReview(options) || waitingForApproval(run, deployment).length > 0;
    rejectIf(!isWaiting, deployment === undefined ? 'no export waits for a review' : `nothing waits for ${deployment}`);
  }
  const subject = ({ deployment }: ActionOptions): string | null => deployment ?? state.review?.version ?? null;
  return {
    [UPDATES.approve]: {
      description: 'Deploys the export that a guard holds, or the version that waits for a deployment.',
      check,
      record: ({ options }) => ['approve', subject(options)],
      act: ({ options }) =>
        isReview(options) ? approveReview(run) : approveDeployments(run, waitingForApproval(run, options.deployment)),
    },
    [UPDATES.reject]: {
      description: 'Drops the export that a guard holds, or skips a version for a deployment.',
      check,
      record: ({ options }) => ['reject', subject(options)],
      act({ options }) {
        if (isReview(options)) rejectReview(run);
        else rejectDeployments(run, waitingForApproval(run, options.deployment));
      },
    },
  };
}

/** Cancels the running export and drops what is pending. What is deployed stays, but its link is no longer refreshed. */
async function removeSite(run: SiteRun): Promise<void> {
  // Another removal would make the first one wait for both.
  if (run.removed && patched('one-removal')) return;
  run.removed = true;
  const { exporting } = run.state;
  if (exporting === null) return;
  // A failed start isn't repeated any more.
  const isFailed = run.state.backOff?.waiting === true && patched('one-removal');
  const isStarted = (): boolean => isFailed || exporting.stage !== 'starting' || run.state.exporting !== exporting;
  const summary = 'the start of the export that is to be canceled';
  if (!isStarted()) await waitAtMost(isStarted, START_TIMEOUT_MS, summary);
  const { stage, jobId } = exporting;
  if (stage === 'polling' && jobId !== null) await cancelExportJob(run, jobId, 'the site was removed');
  exportEnded(run.state.histories, 'canceled', { waiting: false });
}

/** After `remove`, a publish starts the site again, also while the last write still runs, which can take long. */
function successorOf(run: SiteRun): Pick<SiteRun, 'state' | 'seen'> {
  run.successor ??= { state: newState(Date.now()), seen: createSeenDeliveries() };
  return run.successor;
}
