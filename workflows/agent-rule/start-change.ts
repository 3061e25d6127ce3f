import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import {
  CancellationScope,
  log,
  ParentClosePolicy,
  patched,
  startChild,
  WorkflowIdReusePolicy,
} from '@temporalio/workflow';
import { SEARCH_ATTRIBUTES, WORKFLOW_IDS, WORKFLOW_TYPES } from '../../contract/names.ts';
import type { agentChange } from '../agent-change.ts';
import { addStart } from './due.ts';
import { withoutFirst } from './intake.ts';
import type { Waiting } from './rule-memory.ts';
import type { RuleRun } from './rule-run.ts';

/** Changes listed in the state. */
const LISTED = 20;

/**
 * Starts one change for everything collected. It lives on without us. A delivery that one was started for already (before
 * this workflow was reset, or by an earlier one of the same rule) is left out; what was collected with it may be new.
 */
export async function startChange(run: RuleRun): Promise<void> {
  const { memory } = run;
  const { waiting } = memory;
  if (waiting === null) return;
  memory.waiting = null;
  run.starting = true;
  try {
    const workflowId = await CancellationScope.nonCancellable(() => startForWhatIsNew(run, waiting));
    if (workflowId === null) return;
    memory.startsMs = addStart(memory.startsMs, Date.now());
    const change = { workflowId, startedAt: new Date().toISOString() };
    memory.changes = [change, ...memory.changes].slice(0, LISTED);
  } finally {
    run.starting = false;
  }
}

/** Null where each delivery has its change. */
async function startForWhatIsNew(run: RuleRun, collected: Waiting): Promise<string | null> {
  for (let waiting: Waiting | null = collected; waiting !== null; waiting = withoutFirst(waiting)) {
    const workflowId = await startFirstFree(run, waiting);
    if (workflowId !== null) return workflowId;
    log.info('a change for this delivery was started before', { delivery: waiting.changeKeys[0] });
    if (waiting.count > 1 && !patched('next-delivery-2026-11')) return null;
  }
  return null;
}

/** Null where every name is taken. */
async function startFirstFree(run: RuleRun, waiting: Waiting): Promise<string | null> {
  for (const key of waiting.changeKeys) {
    const workflowId = WORKFLOW_IDS.agentChange(run.site, run.rule, key);
    if (await start(run, waiting, workflowId)) return workflowId;
  }
  return null;
}

async function start({ site, rule, settings }: RuleRun, waiting: Waiting, workflowId: string): Promise<boolean> {
  const events = waiting.events.map(({ event }) => event);
  const newest = events.at(-1);
  try {
    await startChild<typeof agentChange>(WORKFLOW_TYPES.agentChange, {
      workflowId,
      args: [{ site, rule, events, eventCount: waiting.count, settings }],
      workflowIdReusePolicy: WorkflowIdReusePolicy.REJECT_DUPLICATE,
      parentClosePolicy: ParentClosePolicy.ABANDON,
      // A worker that is killed in the middle of a turn costs the change this long, not the usual 10 s.
      workflowTaskTimeout: '5s',
      memo: { site, rule },
      staticSummary: `${rule}: ${newest?.title ?? ''}`.replace(/\s+/g, ' ').slice(0, 200),
      ...(settings?.searchAttributes && {
        typedSearchAttributes: [{ key: { name: SEARCH_ATTRIBUTES.site, type: 'KEYWORD' }, value: site }],
      }),
    });
    return true;
  } catch (error) {
    if (error instanceof WorkflowExecutionAlreadyStartedError) return false;
    throw error;
  }
}
