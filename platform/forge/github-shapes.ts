import { createHash } from 'node:crypto';
import type { RequestedReviewer } from '../store/pull-request-reviewers.ts';
import type { ReviewRow } from '../store/pull-request-reviews.ts';
import type { PullRequestRow } from '../store/pull-requests.ts';
import { FORGE_AUTHOR, FORGE_OPERATOR } from './forge-context.ts';
import { fullNameOf } from './repository.ts';

/**
 * Pull requests in the format of GitHub's API and webhooks (https://docs.github.com/rest/pulls), as far as this forge
 * has them, so that clients made for GitHub can read them. `url` is the page.
 */

export function userShape(login: string) {
  return { login, id: numericId(`user ${login}`), type: login === FORGE_AUTHOR ? 'Bot' : 'User', site_admin: false };
}

export function repositoryShape(url: string) {
  const fullName = fullNameOf(url);
  const [owner = '', name = ''] = fullName.split('/');
  return {
    id: numericId(url),
    name,
    full_name: fullName,
    owner: userShape(owner),
    private: true,
    html_url: url,
    clone_url: url,
  };
}

export function pullRequestShape(row: PullRequestRow, { url, asked }: { url: string; asked: RequestedReviewer[] }) {
  const repo = repositoryShape(row.repository);
  const branch = (ref: string, sha: string) => ({
    label: `${repo.owner.login}:${ref}`,
    ref,
    sha,
    user: repo.owner,
    repo,
  });
  const merged = row.state === 'merged';
  const endedAt = row.endedAt?.toISOString() ?? null;
  const named = (kind: RequestedReviewer['kind']) => asked.flatMap((one) => (one.kind === kind ? [one.name] : []));
  return {
    id: numericId(row.id),
    node_id: row.id,
    number: row.number,
    url,
    html_url: url,
    state: row.state === 'open' ? 'open' : 'closed',
    draft: false,
    locked: false,
    title: row.title,
    body: row.body,
    user: userShape(row.author),
    head: branch(row.headBranch, row.headSha),
    base: branch(row.baseBranch, row.baseSha),
    merged,
    merged_at: merged ? endedAt : null,
    merged_by: merged ? userShape(row.endedBy ?? FORGE_OPERATOR) : null,
    merge_commit_sha: row.mergeCommitSha,
    closed_at: endedAt,
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
    requested_reviewers: named('user').map(userShape),
    requested_teams: named('team').map((name) => ({ name, slug: name })),
  };
}

const REVIEW_STATES = {
  approved: 'APPROVED',
  'changes-requested': 'CHANGES_REQUESTED',
  commented: 'COMMENTED',
} as const;

/** The API writes a review's state in capitals, webhooks in lower case. */
export function reviewShape(review: ReviewRow, url: string) {
  return {
    id: review.id,
    user: userShape(review.reviewer),
    body: review.body,
    state: REVIEW_STATES[review.verdict],
    html_url: `${url}#review-${review.id}`,
    commit_id: review.commitSha,
    submitted_at: review.submittedAt.toISOString(),
  };
}

/** A stable number for a field that is numeric at GitHub: 48 bits, which fit JSON's numbers. */
function numericId(text: string): number {
  return createHash('sha256').update(text).digest().readUIntBE(0, 6);
}
