import type { NewPullRequest } from '../../forge/forge.ts';
import { ForgeError } from '../../forge/forge-error.ts';
import { getAgentJob } from '../store/agent-jobs.ts';
import { listProjectRows } from '../store/projects.ts';
import { findPullRequestOfBranch, insertPullRequest, type PullRequestRow } from '../store/pull-requests.ts';
import { countCommits, mergeBase, readBranch } from './commits.ts';
import { enqueuePullRequestEvent } from './enqueue-webhooks.ts';
import { FORGE_AUTHOR, type ForgeContext } from './forge-context.ts';
import { refreshPullRequest } from './refresh-pull-request.ts';
import { openRepository, repositoryUrl } from './repository.ts';
import { bodyText, titleText } from './texts.ts';

/**
 * Opens a pull request for a branch, or returns its open one with the branch's new commits. Throws a `ForgeError`: 404
 * (no such repository), 422 (no such branch, or no new commits).
 */
export async function openPullRequest(context: ForgeContext, request: NewPullRequest): Promise<PullRequestRow> {
  const repository = repositoryUrl(request.repository);
  const branch = { repository, headBranch: request.branch };
  const open = await findOpen(context, branch);
  if (open !== undefined) return open;
  const commits = await readCommits(request);
  const projectId = await projectOf(context, branch);
  const opened = await context.db.transaction(async (tx) => {
    const row = await insertPullRequest(tx, {
      ...branch,
      ...commits,
      projectId,
      author: FORGE_AUTHOR,
      title: titleText(request.title),
      body: bodyText(request.body),
      baseBranch: request.base,
    });
    if (row !== undefined) await enqueuePullRequestEvent(tx, context, row, { action: 'opened', sender: FORGE_AUTHOR });
    return row;
  });
  if (opened === undefined) {
    const other = await findOpen(context, branch);
    if (other === undefined) throw new ForgeError('The branch just had another pull request', RETRY);
    return other;
  }
  context.logger.info({ repository, number: opened.number, branch: request.branch }, 'Opened a pull request');
  return opened;
}

const RETRY = { status: 409, retryable: true } as const;

type Branch = { repository: string; headBranch: string };

async function findOpen(context: ForgeContext, branch: Branch): Promise<PullRequestRow | undefined> {
  const row = await findPullRequestOfBranch(context.db, branch);
  const fresh = row?.state === 'open' ? await refreshPullRequest(context, row) : undefined;
  return fresh?.state === 'open' ? fresh : undefined;
}

async function readCommits(request: NewPullRequest): Promise<{ headSha: string; baseSha: string }> {
  const { git } = await openRepository(request.repository);
  const headSha = await readBranch(git, request.branch);
  const baseSha = await readBranch(git, request.base);
  if (headSha === undefined) throw invalid(`The repository has no branch ${request.branch}`);
  if (baseSha === undefined) throw invalid(`The repository has no branch ${request.base}`);
  if ((await mergeBase(git, baseSha, headSha)) === undefined) throw invalid('The branches have no common history');
  if ((await countCommits(git, { from: baseSha, to: headSha })) === 0) {
    throw invalid(`There are no commits between ${request.base} and ${request.branch}`);
  }
  return { headSha, baseSha };
}

function invalid(message: string): ForgeError {
  return new ForgeError(message, { status: 422, retryable: false });
}

export const AGENT_BRANCH = /^galley\/(aj_[0-9a-f]{16})$/;

/** The project of the branch's job, otherwise the only project with the repository. */
async function projectOf({ db }: ForgeContext, { repository, headBranch }: Branch): Promise<string | null> {
  const jobId = AGENT_BRANCH.exec(headBranch)?.[1];
  const job = jobId === undefined ? undefined : await getAgentJob(db, jobId);
  if (job !== undefined && isAt(job.repository, repository)) return job.projectId;
  const [project, ...others] = (await listProjectRows(db)).filter((row) => isAt(row.project.repository, repository));
  // If several have it, none: one customer's webhook must not get the link of another's pull request.
  return others.length === 0 ? (project?.project.id ?? null) : null;
}

function isAt(named: string | null, url: string): boolean {
  return named?.startsWith('file:') === true && URL.canParse(named) && spelled(named) === url;
}

function spelled(named: string): string | undefined {
  try {
    return repositoryUrl(named);
  } catch {
    return undefined;
  }
}
