import type { PullRequest } from '../../../forge/forge.ts';
import type { Git, Remote } from '../../../forge/git/git.ts';
import { checkBranchName, type RemoteHeads, readRemote } from '../../../forge/git/read-remote.ts';
import { beginAgentRun } from '../../store/agent-job-transitions.ts';
import type { AgentJobRow } from '../../store/agent-jobs.ts';
import { type AgentRunKey, keepRunBase } from '../../store/agent-runs.ts';
import type { AgentContext } from './agent-deps.ts';
import { agentStep, impossible, remoteOf } from './agent-step.ts';

type OpenedRun =
  | { state: 'over' }
  | {
      state: 'open';
      repository: string;
      /** The job's own branch. */
      branch: string;
      /** The pull request's base branch. */
      baseBranch: string;
      /** The commit that the agent starts from. */
      baseCommit: string;
      /** The agent continues from the job's branch. */
      continues: boolean;
      /** The job's branch if an ended pull request left it behind; null otherwise. */
      replaces: string | null;
      /** The page of that pull request. */
      finished: string | null;
      runTimeoutMs: number;
      searchAttributes: boolean;
    };

/**
 * Begins a run and decides its start: the job's branch if it is still under review, otherwise the branch that the job
 * is for. After a merged or closed pull request, a run starts from the base again.
 */
export function openAgentRun(context: AgentContext, key: AgentRunKey): Promise<OpenedRun> {
  return agentStep(context, { key, details: () => 'looking at the repository' }, async ({ git }) => {
    const begun = await beginAgentRun(context.db, key);
    if (begun === undefined) return { state: 'over' };
    const { job } = begun;
    refuseSecrets(job);
    const remote = await remoteOf(context, job.repository);
    const heads = await readHeads(git, remote, job);
    const head = heads.commits.get(job.branch) ?? null;
    const last = await lastPullRequest(context, job, head);
    const finished = last !== null && last.state !== 'open' ? last.url : null;
    const continues = head !== null && finished === null;
    const baseBranch = baseBranchOf(job, heads);
    const baseCommit = await keepRunBase(context.db, {
      ...key,
      baseCommit: continues ? head : startOf(heads, baseBranch),
    });
    return {
      state: 'open',
      repository: job.repository,
      branch: job.branch,
      baseBranch,
      baseCommit,
      // An earlier attempt of this step may have stored another start, which then counts.
      continues: continues && baseCommit === head,
      replaces: finished === null ? null : head,
      finished,
      runTimeoutMs: context.runTimeoutMs,
      searchAttributes: context.searchAttributes,
    };
  });
}

/**
 * URLs with a password are rejected when they are set, but older rows may hold one. It would get into Temporal's
 * history and git's argument list.
 */
function refuseSecrets({ repository, projectId }: AgentJobRow): void {
  if (!URL.canParse(repository)) return;
  const { protocol, username, password } = new URL(repository);
  // Over SSH the user is part of the URL and not secret.
  if (password === '' && (username === '' || protocol === 'ssh:')) return;
  throw impossible(
    `The repository's URL holds a user or a password, which belongs into the forge's settings: set it without one ` +
      `(galley projects set --project ${projectId} --repository URL), and make a new job`,
  );
}

async function readHeads(git: Git, remote: Remote, job: AgentJobRow): Promise<RemoteHeads> {
  if (job.ref !== null) await checkBranchName(git, job.ref);
  return readRemote(git, remote, [job.branch, ...(job.ref === null ? [] : [job.ref])]);
}

/** A first run has no branch of its own, so there is no need to ask the forge. */
async function lastPullRequest(
  { forgeFor }: AgentContext,
  { repository, branch, run }: AgentJobRow,
  head: string | null,
): Promise<PullRequest | null> {
  if (run === 1 && head === null) return null;
  return forgeFor(repository).findPullRequest({ repository, branch });
}

function baseBranchOf({ ref, repository }: AgentJobRow, { defaultBranch }: RemoteHeads): string {
  const branch = ref ?? defaultBranch;
  if (branch !== null) return branch;
  throw impossible(`The repository ${repository} is empty, or has no default branch: push a commit, or set a ref`);
}

function startOf({ commits }: RemoteHeads, branch: string): string {
  const commit = commits.get(branch);
  if (commit === undefined) throw impossible(`The repository has no branch ${branch}`);
  return commit;
}
