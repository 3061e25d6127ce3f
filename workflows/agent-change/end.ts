import { getExternalWorkflowHandle, isCancellation, log, workflowInfo } from '@temporalio/workflow';
import type { ChangeEnded } from '../../contract/agent-state.ts';
import { cutText } from '../../contract/cut-text.ts';
import { SIGNALS, WORKFLOW_IDS } from '../../contract/names.ts';
import { emptyOutbox } from '../notifications/outbox.ts';
import { stopFollowUp } from './follow-ups.ts';
import { cancelChangeJob } from './job.ts';
import { mailOperators } from './mails.ts';
import { notifyPullRequest } from './notifications.ts';
import { readPullRequest } from './review.ts';
import { type ChangeRun, isOver } from './state.ts';
import { addNote, end, reportLostJob } from './transitions.ts';

const MAX_MESSAGE = 500;

/** Notifies the operators and the site's rules of the end. May be repeated without a second mail. */
export async function notifyEnd(run: ChangeRun): Promise<void> {
  reportLostJob(run.state);
  if (run.state.phase === 'merged') await signalMerge(run);
  await signalPhase(run);
  const { phase } = run.state;
  if (phase === 'merged' || phase === 'closed') notifyPullRequest(run, phase);
  await emptyOutbox(run);
  // Last, because a mail server may defer it for a day.
  if (phase === 'failed') await notifyOperators(run);
}

/** The rule's state lists how its changes ended, and forgets the end of one whose pull request is reopened. */
export async function signalPhase({ site, rule, state }: ChangeRun): Promise<void> {
  const { phase, error, lastWords } = state;
  const message = phase === 'failed' ? error : phase === 'unchanged' ? lastWords : null;
  const ended: ChangeEnded = {
    workflowId: workflowInfo().workflowId,
    phase,
    message: message === null ? null : cutText(message, MAX_MESSAGE),
  };
  await signalRule(site, rule, SIGNALS.changeEnded, ended);
}

/**
 * Signals the merge commit to all rules of the site, so that its push prompts none of them. Otherwise two rules could
 * respond to each other's merges forever.
 */
async function signalMerge(run: ChangeRun): Promise<void> {
  const sha = await mergeCommitOf(run);
  if (sha === null) return;
  for (const rule of new Set([run.rule, ...run.settings.rules])) {
    await signalRule(run.site, rule, SIGNALS.ownMerge, { sha });
  }
}

async function signalRule(site: string, rule: string, signal: string, payload: object): Promise<void> {
  try {
    await getExternalWorkflowHandle(WORKFLOW_IDS.agentRule(site, rule)).signal(signal, payload);
  } catch (error) {
    if (isCancellation(error)) throw error;
    // A rule that isn't running has nothing to drop or to list.
    log.info('a rule could not be signaled', { rule, signal, error: String(error) });
  }
}

async function mergeCommitOf({ state, settings }: ChangeRun): Promise<string | null> {
  const { pullRequest, prLink } = state;
  if (pullRequest?.mergeCommitSha || prLink === null || !settings.forge) return pullRequest?.mergeCommitSha ?? null;
  try {
    const reading = await readPullRequest.executeWithOptions({ summary: 'which commit merged it' }, [{ prLink }]);
    return reading.mergeCommitSha;
  } catch (error) {
    if (isCancellation(error)) throw error;
    return null;
  }
}

async function notifyOperators(run: ChangeRun): Promise<void> {
  const { state, settings } = run;
  if (settings.mail && settings.operators.length > 0)
    await mailOperators(run, 'job-failed', state.error ?? 'it failed');
  else addNote(state, 'no mail was sent about the failure: no operator or no mail server is configured');
}

/** Cancels the job. An open pull request stays open. */
export async function endCancelled(run: ChangeRun): Promise<void> {
  const { state } = run;
  if (isOver(state.phase)) return;
  if (state.phase === 'prompting' || state.phase === 'working') await cancelChangeJob(run, 'the change is canceled');
  await stopFollowUp(run);
  reportLostJob(state);
  end(state, 'cancelled');
}
