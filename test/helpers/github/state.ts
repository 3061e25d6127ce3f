import { createHash, randomBytes } from 'node:crypto';
import type { ReviewText } from '../../../forge/forge.ts';

/** The state of the fake GitHub server. Tests change it directly, to act as other users. */

export type Account = { login: string; email: string | null };
/** `none`: a fine-grained token without the permissions. */
export type Token = { login: string; rights: 'write' | 'none' };
export type Files = Readonly<Record<string, string>>;
export type Branch = { sha: string; files: Files };
export type SubmittedReview = {
  login: string;
  state: 'APPROVED' | 'CHANGES_REQUESTED' | 'COMMENTED' | 'DISMISSED' | 'PENDING';
  submittedAt: string | null;
  /** The account's type. `User` by default. */
  type?: 'User' | 'Bot';
  /** None by default. */
  text?: ReviewText | undefined;
};
export type Pull = {
  number: number;
  title: string;
  body: string;
  author: string;
  state: 'open' | 'closed';
  head: string;
  /** Whether the head is in a fork of the same owner, whose branches have the same label "owner:branch". */
  fromFork: boolean;
  base: string;
  headSha: string;
  mergedAt: string | null;
  mergeCommitSha: string | null;
  reviewers: Set<string>;
  teams: Set<string>;
  reviews: SubmittedReview[];
};
export type Repository = {
  id: number;
  owner: string;
  name: string;
  /** Null for a user's repository, which has no teams. */
  teams: readonly string[] | null;
  collaborators: readonly string[];
  branches: Map<string, Branch>;
  pulls: Pull[];
};

export type GitHubState = {
  accounts: Account[];
  tokens: Map<string, Token>;
  repositories: Repository[];
};

export function emptyState(): GitHubState {
  return { accounts: [], tokens: new Map(), repositories: [] };
}

export function commitTo(
  repository: Repository,
  branch: string,
  changes: Readonly<Record<string, string | null>>,
): string {
  const before = repository.branches.get(branch) ?? repository.branches.get('main') ?? { sha: '', files: {} };
  const files: Record<string, string> = { ...before.files };
  for (const [path, content] of Object.entries(changes)) {
    if (content === null) delete files[path];
    else files[path] = content;
  }
  const sha = createHash('sha1').update(randomBytes(8)).digest('hex');
  repository.branches.set(branch, { sha, files });
  for (const pull of repository.pulls) {
    if (pull.state === 'open' && pull.head === branch && !pull.fromFork) pull.headSha = sha;
  }
  return sha;
}

export function closePull(pull: Pull): void {
  pull.state = 'closed';
}

export function mergePull(repository: Repository, pull: Pull): string {
  const head = repository.branches.get(pull.head)?.files ?? {};
  const base = repository.branches.get(pull.base)?.files ?? {};
  const gone = Object.fromEntries(Object.keys(base).flatMap((path) => (path in head ? [] : [[path, null]])));
  pull.mergeCommitSha = commitTo(repository, pull.base, { ...head, ...gone });
  pull.mergedAt = new Date().toISOString();
  pull.state = 'closed';
  return pull.mergeCommitSha;
}

export function changedFiles(repository: Repository, pull: Pull): { filename: string; previous: string | null }[] {
  const base = repository.branches.get(pull.base)?.files ?? {};
  const head = repository.branches.get(pull.head)?.files ?? {};
  const removed = Object.keys(base).filter((path) => !(path in head));
  const changed = Object.keys(head).filter((path) => head[path] !== base[path]);
  const files = changed.map((filename) => {
    const previous = filename in base ? undefined : removed.find((path) => base[path] === head[filename]);
    if (previous !== undefined) removed.splice(removed.indexOf(previous), 1);
    return { filename, previous: previous ?? null };
  });
  return [...files, ...removed.map((filename) => ({ filename, previous: null }))];
}
