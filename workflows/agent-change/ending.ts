import { getExternalWorkflowHandle, isCancellation, log, patched, workflowInfo } from '@temporalio/workflow';
import type { ChangeEnded } from '../../contract/agent-state.ts';
import { cutText } from '../../contract/cut-text.ts';
import { SIGNALS, WORKFLOW_IDS } from '../../contract/names.ts';
import { readPullRequest } from './activity-proxies.ts';
import { addNote } from './change-memory.ts';
import type { ChangeRun } from './change-run.ts';
import { cancelJob, noteLostJob } from './job.ts';
import { mailOperators } from './mails.ts';
import { isOver } from './phase.ts';

/** Of what a rule shows of a change's end. */
const MAX_MESSAGE = 500;

/** Tells those whom a change's end concerns. May be repeated: nobody gets a second mail. */
export async function tellEnd(run: ChangeRun): Promise<void> {
  noteLostJob(run.memory);
  if (run.memory.phase === 'failed') await tellOperators(run);
  if (run.memory.phase === 'merged') await tellRules(run);
  // Runs recorded by releases before 0.2 left their rule without news of their end.
  if (patched('end-signaled-2026-11')) await signalEnd(run);
}

/** A rule's state shows what became of its changes. */
async function signalEnd({ site, rule, memory }: ChangeRun): Promise<void> {
  const { phase, error, lastWords = null } = memory;
  const message = phase === 'failed' ? error : phase === 'unchanged' ? lastWords : null;
  const end: ChangeEnded = {
    workflowId: workflowInfo().workflowId,
    phase,
    message: message === null ? null : cutText(message, MAX_MESSAGE),
  };
  await signalRule(site, rule, SIGNALS.changeEnded, end);
}

/**
 * Tells the site's rules which commit merged the pull request, so that the push of it prompts none of them: two rules
 * that answer to each other's merges would never end.
 */
async function tellRules(run: ChangeRun): Promise<void> {
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
    // A rule that doesn't run has collected nothing, and shows nothing.
    log.info('a rule could not be signaled', { rule, signal, error: String(error) });
  }
}

async function mergeCommitOf({ memory, settings }: ChangeRun): Promise<string | null> {
  const { pullRequest, prLink } = memory;
  if (pullRequest?.mergeCommitSha || prLink === null || !settings.forge) return pullRequest?.mergeCommitSha ?? null;
  try {
    const reading = await readPullRequest.executeWithOptions({ summary: 'which commit merged it' }, [{ prLink }]);
    return reading.mergeCommitSha;
  } catch (error) {
    if (isCancellation(error)) throw error;
    return null;
  }
}

/** Tells the operators that the job failed. */
async function tellOperators(run: ChangeRun): Promise<void> {
  const { memory, settings } = run;
  if (settings.mail && settings.operators.length > 0) await mailOperators(run, memory.error ?? 'it failed');
  else addNote(memory, 'no operator or no mail server is configured: nobody was told of the failure');
}

/** Ends a change that somebody cancelled: the job too, where it may still run. The pull request is left as it is. */
export async function endCancelled(run: ChangeRun): Promise<void> {
  const { memory } = run;
  if (isOver(memory.phase)) return;
  if (memory.phase === 'prompting' || memory.phase === 'working') await cancelJob(run, 'the change is cancelled');
  noteLostJob(memory);
  memory.phase = 'cancelled';
}
