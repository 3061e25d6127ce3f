import { changePullRequest, lockPullRequest, type PullRequestRow } from '../store/pull-requests.ts';
import { isAncestor, readBranch, readCommit } from './commits.ts';
import { enqueuePullRequestEvent } from './enqueue-webhooks.ts';
import { FORGE_AUTHOR, type ForgeContext } from './forge-context.ts';
import { findMerge } from './merge-branches.ts';
import { recordMerge } from './record-merge.ts';
import { openRepository } from './repository.ts';

/**
 * Updates a row from its branches, which change outside the forge: new commits, and merges made with git alone. Ended
 * pull requests and those whose commits git no longer has stay unchanged. Throws a `ForgeError` if the repository is
 * gone.
 */
export async function refreshPullRequest(context: ForgeContext, row: PullRequestRow): Promise<PullRequestRow> {
  if (row.state !== 'open') return row;
  const { git } = await openRepository(row.repository);
  const baseSha = await readBranch(git, row.baseBranch);
  if (baseSha === undefined) return row;
  const headSha = (await readBranch(git, row.headBranch)) ?? (await readCommit(git, row.headSha));
  if (headSha === undefined) return row;
  if (headSha === row.headSha && baseSha === row.baseSha) return row;
  if (await isAncestor(git, headSha, baseSha)) {
    const merge = await findMerge(git, headSha, baseSha);
    // If the head was reset to a commit that the base always had, it wasn't merged.
    if (merge.baseSha !== null || headSha === row.headSha)
      return await recordMerge(context, git, row, { ...merge, by: null });
  }
  return await context.db.transaction(async (tx) => {
    const now = await lockPullRequest(tx, row.id);
    // Another process has updated it meanwhile; its data is as new as this.
    if (now?.state !== 'open' || now.headSha !== row.headSha) return now ?? row;
    const moved = (await changePullRequest(tx, row.id, { headSha, baseSha })) ?? row;
    if (headSha !== row.headSha) {
      const action = { action: 'synchronize' as const, before: row.headSha, after: headSha, sender: FORGE_AUTHOR };
      await enqueuePullRequestEvent(tx, context, moved, action);
    }
    return moved;
  });
}
