import { createIntervalLoop } from '../interval-loop.ts';
import { listOpenPullRequests, type PullRequestRow } from '../store/pull-requests.ts';
import { withoutValues } from '../store/query-error.ts';
import type { ForgeContext } from './forge-context.ts';
import { refreshPullRequest } from './refresh-pull-request.ts';
import { openRepository } from './repository.ts';

type BranchWatch = {
  start(): void;
  /** Ends after the current repository. */
  stop(): Promise<void>;
  /** Checks every open pull request once. */
  look(): Promise<void>;
};

const PAGE_SIZE = 200;

/**
 * Notices changes to open pull requests' branches outside the forge: pushed commits, and merges made with git alone.
 * Git has no events, so it polls each repository. Any number of processes may watch.
 */
export function createBranchWatch(context: ForgeContext): BranchWatch {
  const loop = createIntervalLoop({
    intervalMs: 10_000,
    async turn() {
      await look();
      return false;
    },
    onFailure: logFailure,
  });

  async function look(): Promise<void> {
    let after: PullRequestRow | undefined;
    do {
      const rows = await listOpenPullRequests(context.db, { after, limit: PAGE_SIZE });
      for (const repository of new Set(rows.map((row) => row.repository))) {
        if (loop.signal.aborted) return;
        const ofRepository = rows.filter((row) => row.repository === repository);
        await lookAt(repository, ofRepository).catch(logFailure);
      }
      after = rows.length < PAGE_SIZE ? undefined : rows.at(-1);
    } while (after !== undefined && !loop.signal.aborted);
  }

  async function lookAt(repository: string, rows: readonly PullRequestRow[]): Promise<void> {
    const heads = await readHeads(repository, rows);
    for (const row of rows) {
      const headSha = heads.get(row.headBranch) ?? row.headSha;
      const baseSha = heads.get(row.baseBranch) ?? row.baseSha;
      const moved = headSha !== row.headSha || baseSha !== row.baseSha;
      if (moved && !loop.signal.aborted) await refreshPullRequest(context, row).catch(logFailure);
    }
  }

  /** A repository that is gone is reported when someone opens it; here it is skipped. */
  function logFailure(error: unknown): void {
    context.logger.debug({ err: withoutValues(error) }, 'A pull request could not be compared with its branches');
  }

  return { look, start: loop.start, stop: loop.stop };
}

const PREFIX = 'refs/heads/';

/** Branches with their commits. A pattern also matches branches below it, which does no harm. */
async function readHeads(repository: string, rows: readonly PullRequestRow[]): Promise<Map<string, string>> {
  const { git } = await openRepository(repository);
  const branches = new Set(rows.flatMap((row) => [row.headBranch, row.baseBranch]));
  const patterns = [...branches].map((branch) => PREFIX + branch);
  const lines = await git.read(['for-each-ref', '--format=%(objectname) %(refname)', '--', ...patterns]);
  const parts = lines.split('\n').map((line) => line.split(' '));
  return new Map(parts.flatMap(([sha = '', ref]) => (ref === undefined ? [] : [[ref.slice(PREFIX.length), sha]])));
}
