import { workflowInfo } from '@temporalio/workflow';
import { cutText } from '../../contract/cut-text.ts';
import { hash64 } from '../deliveries/hash64.ts';
import { enqueueEvent } from '../notifications/outbox.ts';
import type { ChangeRun } from './state.ts';

/** Reports to the targets of `notify` what happened to the pull request. */
export function notifyPullRequest(run: ChangeRun, action: 'opened' | 'merged' | 'closed'): void {
  const { site, rule, state } = run;
  const title = state.pullRequest?.title || state.events.at(-1)?.title || '';
  enqueueEvent(run, {
    // A change has one pull request, so a repeated report is the same event.
    id: `pull-request-${action}-${hash64(workflowInfo().workflowId)}`,
    at: new Date().toISOString(),
    type: 'pull-request',
    data: { site, rule, action, title: cutText(title, 500), url: cutText(state.prLink ?? '', 2_000) },
  });
}
