import { changePullRequest, lockPullRequest, type PullRequestRow } from '../store/pull-requests.ts';
import { isAncestor, readBranch } from './commits.ts';
import { FORGE_AUTHOR, type ForgeContext } from './forge-context.ts';
import { findMerge } from './merge-branches.ts';
import { recordMerge } from './record-merge.ts';
import { openRepository } from './repository.ts';
import { tellPullRequest } from './tell.ts';

/**
 * Brings a row up to its branches, which move without the forge's knowing: new commits, and a merge that somebody made
 * with git alone. What has ended, and what git no longer has, stays as it was. Throws a `ForgeError` where the
 * repository is gone.
 */
export async function refreshPullRequest(context: ForgeContext, row: PullRequestRow): Promise<PullRequestRow> {
  if (row.state !== 'open') return row;
  const { git } = await openRepository(row.repository);
  const baseSha = await readBranch(git, row.baseBranch);
  if (baseSha === undefined) return row;
  const headSha = (await readBranch(git, row.headBranch)) ?? row.headSha;
  if (headSha === row.headSha && baseSha === row.baseSha) return row;
  if (await isAncestor(git, headSha, baseSha)) {
    const merge = await findMerge(git, headSha, baseSha);
    // A branch that was put back to what the base had all along was not merged.
    if (merge.baseSha !== null || headSha === row.headSha)
      return await recordMerge(context, git, row, { ...merge, by: null });
  }
  return await context.db.transaction(async (tx) => {
    const now = await lockPullRequest(tx, row.id);
    // Another process was here meanwhile: what it read is as new as this.
    if (now?.state !== 'open' || now.headSha !== row.headSha) return now ?? row;
    const moved = (await changePullRequest(tx, row.id, { headSha, baseSha })) ?? row;
    if (headSha !== row.headSha) {
      const told = { action: 'synchronize' as const, before: row.headSha, after: headSha, sender: FORGE_AUTHOR };
      await tellPullRequest(tx, context, moved, told);
    }
    return moved;
  });
}
