import type { ForgeWriter, PullRequest } from '../../../forge/forge.ts';
import { ForgeError } from '../../../forge/forge-error.ts';
import type { AgentJobRow } from '../../store/agent-jobs.ts';
import { type AgentRun, type AgentRunKey, listEarlierPushes, listRunPrompts } from '../../store/agent-runs.ts';
import type { AgentContext } from './agent-deps.ts';
import { agentStep, refuseOver } from './agent-step.ts';
import { descriptionOf, titleOf } from './pull-request-text.ts';
import { readRun } from './read-run.ts';

export type PullRequestInput = AgentRunKey & {
  /** Null if the agent changed nothing. */
  commit: string | null;
  baseBranch: string;
  /** The job's branch has changes of earlier runs. */
  continues: boolean;
  /** The page of the branch's pull request that had ended before this run's change was pushed. */
  finished: string | null;
};

type PullRequestLink = { prLink: string | null };

/** A description lists at most this many prompts: the first and the newest. */
const MOST_PROMPTS = 20;

/**
 * Finds or opens the pull request of the job's branch and lists the prompts in its description. If the agent changed
 * nothing, it returns the existing one, and opens one only for earlier changes that have none.
 */
export function openAgentPullRequest(context: AgentContext, input: PullRequestInput): Promise<PullRequestLink> {
  return agentStep(context, { key: input, details: () => 'opening the pull request' }, async () => {
    const { job, run } = await readRun(context.db, input);
    const forge = context.forgeFor(job.repository);
    // A first run that changed nothing has no branch, so there is no need to ask the forge.
    if (input.commit === null && run.run === 1) return { prLink: null };
    const found = await forge.findPullRequest(job);
    if (input.commit === null && (found !== null || !input.continues)) return { prLink: found?.url ?? null };

    const current = found !== null && (found.state === 'open' || found.url !== input.finished) ? found : null;
    const prompts = await promptsOf(context, run, current);
    const body = descriptionOf({ jobId: job.id, model: job.model, prompts });
    if (current === null) {
      const title = titleOf(prompts[0] ?? run.prompt);
      const { repository, branch } = job;
      await refuseOver(context.db, input);
      const opened = await forge.openPullRequest({ repository, branch, base: input.baseBranch, title, body });
      return { prLink: opened.url };
    }
    if (prompts.length > 1) await retell(context, forge, current, { job, body });
    return { prLink: current.url };
  });
}

/** The change is pushed, so a rejected description is no reason to fail. */
async function retell(
  { logger }: AgentContext,
  forge: ForgeWriter,
  { url }: PullRequest,
  { job, body }: { job: AgentJobRow; body: string },
): Promise<void> {
  try {
    await forge.updatePullRequest(url, { body });
  } catch (error) {
    if (!(error instanceof ForgeError) || error.retryable) throw error;
    logger.warn({ jobId: job.id, status: error.status }, 'The forge refused a new description of a pull request');
  }
}

/**
 * The prompts of the runs whose changes are in the pull request: this one, and earlier ones that pushed to it or found
 * none.
 */
async function promptsOf({ db }: AgentContext, run: AgentRun, pullRequest: PullRequest | null): Promise<string[]> {
  const { jobId } = run;
  const pushes = await listEarlierPushes(db, { jobId, beforeRun: run.run });
  const [first, ...others] = pushes.filter(({ prLink }) => prLink === null || prLink === pullRequest?.url);
  if (first === undefined) return [run.prompt];
  // Prompts may be long, so read only those that are shown.
  const shown = [first, ...others.slice(2 - MOST_PROMPTS)].map((each) => each.run);
  return [...(await listRunPrompts(db, { jobId, runs: shown })), run.prompt];
}
