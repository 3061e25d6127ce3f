import { getExternalWorkflowHandle, isCancellation, log } from '@temporalio/workflow';
import { SIGNALS, WORKFLOW_IDS } from '../../contract/names.ts';
import { readPullRequest } from './activity-proxies.ts';
import { addNote } from './change-memory.ts';
import type { ChangeRun } from './change-run.ts';
import { cancelJob, noteLostJob } from './job.ts';
import { mailOperators } from './mails.ts';
import { isOver } from './phase.ts';

/** Tells those whom a change's end concerns. May be repeated: nobody gets a second mail. */
export async function tellEnd(run: ChangeRun): Promise<void> {
  noteLostJob(run.memory);
  if (run.memory.phase === 'failed') await tellOperators(run);
  if (run.memory.phase === 'merged') await tellRules(run);
}

/**
 * Tells the site's rules which commit merged the pull request, so that the push of it prompts none of them: two rules
 * that answer to each other's merges would never end.
 */
async function tellRules(run: ChangeRun): Promise<void> {
  const sha = await mergeCommitOf(run);
  if (sha === null) return;
  for (const rule of new Set([run.rule, ...run.settings.rules])) await tellRule(run.site, rule, sha);
}

async function tellRule(site: string, rule: string, sha: string): Promise<void> {
  try {
    await getExternalWorkflowHandle(WORKFLOW_IDS.agentRule(site, rule)).signal(SIGNALS.ownMerge, { sha });
  } catch (error) {
    if (isCancellation(error)) throw error;
    // A rule that doesn't run has collected nothing.
    log.info('a rule could not be told of a merge', { rule, error: String(error) });
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
