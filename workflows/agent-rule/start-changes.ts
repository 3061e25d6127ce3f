import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import {
  CancellationScope,
  condition,
  log,
  ParentClosePolicy,
  startChild,
  WorkflowIdReusePolicy,
} from '@temporalio/workflow';
import { SEARCH_ATTRIBUTES, WORKFLOW_IDS, WORKFLOW_TYPES } from '../../contract/names.ts';
import type { RuleSettings } from '../../contract/settings.ts';
import type { agentChange } from '../agent-change.ts';
import { rereadSettings } from '../entity/configuration.ts';
import { waitAtMost } from '../entity/coroutines.ts';
import { inSpan } from '../tracing/span.ts';
import { settingsSource } from './configuration.ts';
import { dueOfRun } from './schedule.ts';
import type { RuleRun, Waiting } from './state.ts';
import { changeStarted, dropWaiting, withoutFirst } from './transitions.ts';

/** Starts a change for the collected events whenever they are due. */
export async function startChanges(run: RuleRun): Promise<void> {
  for (;;) {
    await condition(() => run.state.waiting !== null && !run.removed);
    await rereadSettings(settingsSource(run));
    if (run.settings === null) await condition(() => run.settings !== null);
    if (await waitUntilDue(run)) await startForWaiting(run);
  }
}

/** Returns false if nothing waits any more. */
async function waitUntilDue(run: RuleRun): Promise<boolean> {
  for (;;) {
    const due = dueOfRun(run);
    if (due === null || run.removed) return false;
    const waitMs = due.atMs - Date.now();
    if (waitMs <= 0) return true;
    // One timer serves many events, because they only make the prompt later. New settings can make it earlier.
    const isSooner = (): boolean => run.removed || (dueOfRun(run)?.atMs ?? Number.NEGATIVE_INFINITY) < due.atMs;
    const summary = due.limited
      ? 'maxPerHour is reached: until the next change may start'
      : 'quiet period after an event';
    await waitAtMost(isSooner, waitMs, summary);
  }
}

/** Starts one change for all collected events. */
async function startForWaiting(run: RuleRun): Promise<void> {
  const { state } = run;
  const { waiting, settings } = state;
  if (waiting === null || settings === null) return;
  dropWaiting(state);
  run.starting = true;
  try {
    const workflowId = await CancellationScope.nonCancellable(() =>
      inSpan({ name: 'prompt', traces: waiting.traces }, () => startForNew(run, settings, waiting)),
    );
    if (workflowId !== null) changeStarted(state, workflowId, Date.now());
  } finally {
    run.starting = false;
  }
}

/**
 * Leaves out deliveries that have a change already, from before a reset of this workflow or from an earlier workflow of the
 * same rule. Returns null if every delivery has one.
 */
async function startForNew(run: RuleRun, settings: RuleSettings, collected: Waiting): Promise<string | null> {
  for (let waiting: Waiting | null = collected; waiting !== null; waiting = withoutFirst(waiting)) {
    const workflowId = await startWithFirstFreeId(run, settings, waiting);
    if (workflowId !== null) return workflowId;
    log.info('a change for this delivery was started before', { delivery: waiting.changeKeys[0] });
  }
  return null;
}

/** Returns null if every id is in use. */
async function startWithFirstFreeId(run: RuleRun, settings: RuleSettings, waiting: Waiting): Promise<string | null> {
  for (const key of waiting.changeKeys) {
    const workflowId = WORKFLOW_IDS.agentChange(run.site, run.rule, key);
    if (await start(run, settings, waiting, workflowId)) return workflowId;
  }
  return null;
}

async function start(
  { site, rule }: RuleRun,
  settings: RuleSettings,
  waiting: Waiting,
  workflowId: string,
): Promise<boolean> {
  const events = waiting.events.map(({ event }) => event);
  const newest = events.at(-1);
  try {
    await startChild<typeof agentChange>(WORKFLOW_TYPES.agentChange, {
      workflowId,
      args: [{ site, rule, events, eventCount: waiting.count, settings }],
      workflowIdReusePolicy: WorkflowIdReusePolicy.REJECT_DUPLICATE,
      parentClosePolicy: ParentClosePolicy.ABANDON,
      // How long a change waits for a worker that was killed during a workflow task. The default is 10 s.
      workflowTaskTimeout: '5s',
      memo: { site, rule },
      staticSummary: `${site}, ${rule}: ${newest?.title ?? ''}`.replace(/\s+/g, ' ').slice(0, 200),
      ...(settings.searchAttributes && {
        typedSearchAttributes: [{ key: { name: SEARCH_ATTRIBUTES.site, type: 'KEYWORD' }, value: site }],
      }),
    });
    return true;
  } catch (error) {
    if (error instanceof WorkflowExecutionAlreadyStartedError) return false;
    throw error;
  }
}
