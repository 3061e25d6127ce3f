import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import {
  ApplicationFailure,
  allHandlersFinished,
  condition,
  getExternalWorkflowHandle,
  isCancellation,
  log,
  ParentClosePolicy,
  startChild,
  workflowInfo,
} from '@temporalio/workflow';
import { SEARCH_ATTRIBUTES, SIGNALS, WORKFLOW_IDS, WORKFLOW_TYPES } from '../../contract/names.ts';
import type { PublishedSignal } from '../../contract/publish-event.ts';
import { type Acted, RENAMED_FROM_MEMO, type RenamedMemo } from '../../contract/site-state.ts';
import type { exportSite } from '../export-site.ts';
import type { renamedSite } from '../renamed-site.ts';
import { movedDeployments } from './deployments.ts';
import { actionBegan } from './histories.ts';
import type { SiteRun } from './run.ts';
import { serializeState } from './state.ts';
import { applyDeliveries } from './transitions.ts';

type LateSignal = { name: 'published'; payload: PublishedSignal } | { name: 'acted'; payload: Acted };

/** A rename that is under way. */
export type Rename = {
  to: string;
  /** What arrived after the state was handed over; null before that. */
  late: LateSignal[] | null;
  outcome: { refused: string | null } | null;
};

/** Resolves once the site runs under its new name. Throws if that name is taken. */
export async function renamed(rename: Rename): Promise<void> {
  await condition(() => rename.outcome !== null);
  const refused = rename.outcome?.refused ?? null;
  if (refused !== null) throw ApplicationFailure.nonRetryable(refused, 'RenameFailed');
}

/**
 * The end of a run that is renamed: a workflow of the new name continues its state, as the next run would. Returns false if
 * that name is taken: then the next run continues it.
 */
export async function moveSite(run: SiteRun, rename: Rename): Promise<boolean> {
  const { site, state, seen } = run;
  const late: LateSignal[] = [];
  rename.late = late;
  const isMoved = await startUnder(run, rename.to);
  if (isMoved) await keepOldName({ site, to: rename.to });
  else {
    for (const { name, payload } of late) {
      if (name === 'published') applyDeliveries(state, seen, payload, Date.now());
      else actionBegan(state.histories, payload);
    }
    rename.late = null;
  }
  const refused = `${rename.to} runs already. If it can go: galley sites remove ${rename.to}, rename again, and galley sites export ${rename.to}`;
  rename.outcome = { refused: isMoved ? null : refused };
  await condition(allHandlersFinished);
  // Nothing is awaited between the last look and the end of the run.
  for (let signal = late.shift(); isMoved && signal !== undefined; signal = late.shift()) {
    await forward(rename.to, signal);
  }
  return isMoved;
}

/** Returns false if a workflow of this name runs. */
async function startUnder({ site, state, seen, settings }: SiteRun, to: string): Promise<boolean> {
  const carry = serializeState({ ...state, startWait: null, deployments: movedDeployments(state, site) }, seen);
  try {
    await startChild<typeof exportSite>(WORKFLOW_TYPES.exportSite, {
      ...independent,
      workflowId: WORKFLOW_IDS.exportSite(to),
      args: [{ site: to, carry }],
      memo: { site: to, domain: settings.domain, [RENAMED_FROM_MEMO]: site },
      staticSummary: `Keeps ${settings.domain} exported and deployed`.slice(0, 200),
      ...(settings.searchAttributes && {
        typedSearchAttributes: [{ key: { name: SEARCH_ATTRIBUTES.site, type: 'KEYWORD' }, value: to }],
      }),
    });
    return true;
  } catch (error) {
    if (error instanceof WorkflowExecutionAlreadyStartedError) return false;
    throw error;
  }
}

const independent = {
  parentClosePolicy: ParentClosePolicy.ABANDON,
  // As in api/temporal-gateway.ts.
  workflowTaskTimeout: '5s',
} as const;

async function keepOldName(memo: RenamedMemo): Promise<void> {
  await startChild<typeof renamedSite>(WORKFLOW_TYPES.renamedSite, {
    ...independent,
    workflowId: WORKFLOW_IDS.renamedSite(memo.site, workflowInfo().runId),
    memo,
    staticSummary: `${memo.site} was renamed to ${memo.to}`,
  });
}

async function forward(to: string, { name, payload }: LateSignal): Promise<void> {
  try {
    await getExternalWorkflowHandle(WORKFLOW_IDS.exportSite(to)).signal(SIGNALS[name], payload);
  } catch (error) {
    if (isCancellation(error)) throw error;
    // It was removed at once.
    log.warn('a signal could not be forwarded to the new name', { to, signal: name, error: String(error) });
  }
}
