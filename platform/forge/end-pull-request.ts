import { HttpError } from '../../web/http-error.ts';
import { endPullRequest, getPullRequest, type PullRequestRow } from '../store/pull-requests.ts';
import { enqueuePullRequestEvent } from './enqueue-webhooks.ts';
import { type ForgeContext, newCommits } from './forge-context.ts';
import { mergeBranches } from './merge-branches.ts';
import { recordMerge } from './record-merge.ts';
import { openRepository } from './repository.ts';

const FILES_NAMED = 20;

/**
 * Merges in git and records who did it; a merged one is returned unchanged. Throws an `HttpError` 409 with the reason
 * if git can't merge or the head is another than `head`, and a `ForgeError` 404 if the repository is gone.
 */
export async function mergePullRequest(
  context: ForgeContext,
  row: PullRequestRow,
  { by, head }: { by: string; head?: string | undefined },
): Promise<PullRequestRow> {
  if (row.state === 'merged') return row;
  if (row.state === 'closed') throw new HttpError(409, 'The pull request is closed');
  const repository = await openRepository(row.repository);
  const outcome = await mergeBranches(repository, {
    headBranch: row.headBranch,
    headSha: row.headSha,
    expectedHead: head,
    baseBranch: row.baseBranch,
    message: `Merge pull request #${row.number} from ${row.headBranch}\n\n${row.title}\n`,
  });
  switch (outcome.kind) {
    case 'merged':
      return await recordMerge(context, repository.git, row, { ...outcome, by });
    case 'other-head':
      throw newCommits();
    case 'refused':
      throw new HttpError(409, `The pull request can not be merged: ${outcome.reason}`);
    case 'conflict': {
      const { files } = outcome;
      const more = files.length > FILES_NAMED ? ` and ${files.length - FILES_NAMED} more` : '';
      const named = `${files.slice(0, FILES_NAMED).join(', ')}${more}`;
      throw new HttpError(409, `The pull request can not be merged: ${row.baseBranch} has other changes in ${named}`);
    }
  }
}

/** A closed one is returned unchanged. Throws an `HttpError` 409 if it is merged. */
export async function closePullRequest(
  context: ForgeContext,
  { id }: PullRequestRow,
  by: string,
): Promise<PullRequestRow> {
  const closed = await context.db.transaction(async (tx) => {
    const row = await endPullRequest(tx, id, { state: 'closed', endedBy: by });
    if (row !== undefined) await enqueuePullRequestEvent(tx, context, row, { action: 'closed', sender: by });
    return row;
  });
  if (closed !== undefined) {
    const { repository, number } = closed;
    context.logger.info({ repository, number }, 'Closed a pull request without merging it');
    return closed;
  }
  const row = await getPullRequest(context.db, id);
  if (row?.state === 'closed') return row;
  throw new HttpError(409, 'The pull request is merged already');
}
