import {
  ApplicationFailure,
  defineQuery,
  defineSignal,
  defineUpdate,
  log,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import { QUERIES, SIGNALS, UPDATES } from '../../contract/names.ts';
import { type PublishedSignal, publishedSignal } from '../../contract/publish-event.ts';
import type { SiteState } from '../../contract/site-state.ts';
import { addRequest } from './debounce.ts';
import { endBackOff } from './export-back-off.ts';
import { takeIn } from './intake.ts';
import { stateOf } from './presence.ts';
import { refreshLinks } from './refresh.ts';
import { removeSite } from './remove-site.ts';
import { rollBack } from './rollback.ts';
import type { SiteRun } from './site-run.ts';

export const published = defineSignal<[PublishedSignal]>(SIGNALS.published);
export const configChanged = defineSignal(SIGNALS.configChanged);
export const state = defineQuery<SiteState>(QUERIES.state);

/** Exports at once, without a quiet period. */
export const exportNow = defineUpdate<SiteState>(UPDATES.exportNow);
/** Renews the links at once and waits for them to be deployed. */
export const refreshNow = defineUpdate<SiteState>(UPDATES.refreshNow);
/** Publishes are collected and not exported until `resume`. What is deployed stays, and its link stays fresh. */
export const pause = defineUpdate<SiteState>(UPDATES.pause);
export const resume = defineUpdate<SiteState>(UPDATES.resume);
/** Ends the site for good, and cancels the export under way. Answers with the state that it ended in. */
export const remove = defineUpdate<SiteState>(UPDATES.remove);
/** Deploys an earlier job, until the next publish. */
export const rollback = defineUpdate<SiteState, [string]>(UPDATES.rollback);

/** Sets the handlers. Nothing here may wait before every handler is set. */
export function answerMessages(run: SiteRun): void {
  const { memory } = run;

  setHandler(published, (signal: unknown) => {
    const parsed = publishedSignal.safeParse(signal);
    // Somebody's own signal, misspelled: throwing would stop the whole workflow until it is taken out of the history.
    if (!parsed.success) return log.warn('a signal "published" of another shape was ignored');
    takeIn(memory, run.seen, parsed.data, { ms: Date.now(), workflowId: workflowInfo().workflowId });
  });
  setHandler(configChanged, () => {
    run.configChanged = true;
  });
  setHandler(state, () => stateOf(run));

  setHandler(
    exportNow,
    () => {
      memory.pending = addRequest(memory.pending, Date.now());
      endBackOff(memory);
      return stateOf(run);
    },
    { validator: () => refuseIf(memory.paused, 'the site is paused: resume it first') },
  );
  setHandler(
    refreshNow,
    async () => {
      await refreshLinks(run, { force: true });
      const { refreshError } = memory;
      if (refreshError) throw ApplicationFailure.nonRetryable(refreshError.message, 'RefreshFailed');
      return stateOf(run);
    },
    { validator: () => refuseIf(memory.live === null, 'nothing is deployed yet, so there is no link to refresh') },
  );
  setHandler(pause, () => {
    memory.paused = true;
    return stateOf(run);
  });
  setHandler(resume, () => {
    memory.paused = false;
    return stateOf(run);
  });
  setHandler(remove, () => removeSite(run));
  setHandler(
    rollback,
    async (jobId) => {
      await rollBack(run, jobId);
      return stateOf(run);
    },
    { validator: (jobId: unknown) => refuseIf(!isJobId(jobId), 'expected the id of a completed job') },
  );
}

function isJobId(value: unknown): boolean {
  return typeof value === 'string' && value.trim() === value && value.length > 0 && value.length <= 500;
}

function refuseIf(refused: boolean, why: string): void {
  if (refused) throw ApplicationFailure.nonRetryable(why, 'Refused');
}
