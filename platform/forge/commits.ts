import type { RepositoryGit } from './git.ts';

/** A commit as pages and webhooks show it. `at` is RFC 3339, the author's time. */
export type Commit = {
  sha: string;
  parents: string[];
  message: string;
  author: { name: string; email: string };
  at: string;
};

/** A branch's commit; undefined if the branch doesn't exist. */
export async function readBranch(git: RepositoryGit, branch: string): Promise<string | undefined> {
  return await readCommit(git, `refs/heads/${branch}`);
}

/** The full id of a commit in the repository; undefined if it isn't there. */
export async function readCommit(git: RepositoryGit, name: string): Promise<string | undefined> {
  return (await git.ask(['rev-parse', '--quiet', '--verify', '--end-of-options', `${name}^{commit}`]))?.trim();
}

export async function isAncestor(git: RepositoryGit, ancestor: string, descendant: string): Promise<boolean> {
  return (await git.ask(['merge-base', '--is-ancestor', ancestor, descendant])) !== undefined;
}

/** The merge base; undefined if the histories have nothing in common. */
export async function mergeBase(git: RepositoryGit, one: string, other: string): Promise<string | undefined> {
  return (await git.ask(['merge-base', one, other]))?.trim();
}

/** The commits that `to` has and `from` hasn't. */
export type CommitRange = { from: string; to: string };

/** Newest first, at most `limit`. */
export async function listCommits(
  git: RepositoryGit,
  { from, to, limit }: CommitRange & { limit: number },
): Promise<Commit[]> {
  const shown = ['-z', `--max-count=${limit}`, `--format=${FORMAT}`, '--encoding=UTF-8', '--no-show-signature'];
  const records = (await git.read(['log', ...shown, '--topo-order', to, `^${from}`, '--'])).split('\0');
  return records.filter((record) => record !== '').map(toCommit);
}

export async function countCommits(git: RepositoryGit, { from, to }: CommitRange): Promise<number> {
  return Number(await git.read(['rev-list', '--count', to, `^${from}`, '--']));
}

/** Single-line fields first, one per line, then the message. */
const FORMAT = '%H%n%P%n%an%n%ae%n%aI%n%B';

function toCommit(record: string): Commit {
  const [sha = '', parents = '', name = '', email = '', at = '', ...message] = record.split('\n');
  return {
    sha,
    parents: parents.split(' ').filter(Boolean),
    message: message.join('\n').trimEnd(),
    author: { name, email },
    at,
  };
}
