import type { Octokit } from '@octokit/rest';
import { z } from 'zod';
import type { PullRequest } from '../forge.ts';
import type { RepositoryTarget } from './connection.ts';
import type { Refusal } from './refusal.ts';

/** The fields used of GitHub's and Gitea's responses, in the form that both have. */

/** GitHub marks a `Bot`; Gitea doesn't. */
const account = z.object({ login: z.string(), type: z.string().nullish() });
const repositoryId = z.object({ id: z.union([z.number(), z.bigint()]) }).nullish();

export const pullRequestResponse = z.object({
  html_url: z.string(),
  number: z.int(),
  state: z.enum(['open', 'closed']),
  title: z.string(),
  user: account.nullish(),
  merged_at: z.string().nullish(),
  merge_commit_sha: z.string().nullish(),
  head: z.object({ ref: z.string(), label: z.string().nullish(), sha: z.string(), repo: repositoryId }),
  base: z.object({ ref: z.string(), repo: repositoryId }),
  requested_reviewers: z.array(account).nullish(),
  requested_teams: z.array(z.object({ name: z.string(), slug: z.string() })).nullish(),
  /** Gitea's word for `requested_teams`. */
  requested_reviewers_teams: z.array(z.object({ name: z.string() })).nullish(),
});
export type PullRequestResponse = z.infer<typeof pullRequestResponse>;

export const changedFile = z.object({ filename: z.string(), previous_filename: z.string().nullish() });

/** A number at both forges. */
const reviewId = z.union([z.number(), z.bigint()]).transform(String);

export const reviewResponse = z.object({
  id: reviewId,
  body: z.string().nullish(),
  user: account.nullish(),
  state: z.string(),
  submitted_at: z.string().nullish(),
  /** Gitea's; on GitHub it is a state. */
  dismissed: z.boolean().nullish(),
});
export type ReviewResponse = z.infer<typeof reviewResponse>;

/** GitHub gives lines; Gitea gives them as positions. */
export const reviewCommentResponse = z.object({
  path: z.string(),
  body: z.string(),
  line: z.number().nullish(),
  original_line: z.number().nullish(),
  position: z.number().nullish(),
  original_position: z.number().nullish(),
});
export type ReviewCommentResponse = z.infer<typeof reviewCommentResponse>;

/** For a folder the response is a list; an empty one with encoding `none` is too long and is read as a blob. */
export const fileResponse = z.union([
  z.object({ type: z.literal('file'), encoding: z.string().nullish(), content: z.string().nullish(), sha: z.string() }),
  z.object({ type: z.string() }).transform(() => null),
  z.array(z.unknown()).transform(() => null),
]);

export const blobResponse = z.object({ encoding: z.string(), content: z.string() });

export const userResponse = account.extend({ email: z.string().nullish() });

/** @param headBranch the branch's name if `head.ref` doesn't have it. */
export function toPullRequest(response: PullRequestResponse, headBranch = response.head.ref): PullRequest {
  const merged = typeof response.merged_at === 'string';
  return {
    url: response.html_url,
    number: response.number,
    state: merged ? 'merged' : response.state,
    title: response.title,
    author: response.user?.login ?? '',
    headBranch,
    headSha: response.head.sha,
    baseBranch: response.base.ref,
    // For an open one GitHub gives the commit of a trial merge here.
    mergeCommitSha: merged ? (response.merge_commit_sha ?? null) : null,
  };
}

/** Differences between GitHub and Gitea under the same API. */
export type Dialect = {
  name: string;
  /** The rights of a token, in the forge's own words. */
  rights: { readPullRequests: string; writePullRequests: string; readFiles: string; readUsers: string };
  /** The paths of CODEOWNERS in the forge's own search order. */
  codeOwnersPaths: readonly string[];
  /** The user name for git; the token is the password. */
  gitUsername: string;
  /** The parameters for the longest pages. */
  pageSize: Readonly<Record<string, number>>;
  /** Pull requests from branches of the repository itself, newest first. */
  pullRequestsOf(
    client: Octokit,
    target: RepositoryTarget & { branch: string; state: 'open' | 'closed' },
  ): AsyncGenerator<PullRequestResponse>;
  toPullRequest(response: PullRequestResponse): PullRequest;
  /** The branch has an open one already. */
  isDuplicate(refusal: Refusal): boolean;
  /** Two concurrent calls may both open one. */
  opensTwo: boolean;
  /** The teams that the forge ignored although it accepted the request. */
  passedOver(response: PullRequestResponse, teams: readonly string[]): string[];
  /** The line of the file that a comment is about; null if the forge doesn't say. */
  lineOf(comment: ReviewCommentResponse): number | null;
  findLogin(client: Octokit, mail: string): Promise<string | null>;
  findMail(client: Octokit, login: string): Promise<string | null>;
};

/** Longer than any list here: GitHub ends its list of changed files at 3,000. */
const MAX_PAGES = 200;

type Page = { headers: Readonly<Record<string, unknown>>; data: unknown };

/**
 * The items of a list, page by page. Counts pages instead of following `Link`, because a forge behind a proxy gives its
 * public URLs there. Gitea's operator can limit page sizes, so a short page isn't the last.
 */
export async function* itemsOf<T>(item: z.ZodType<T>, ask: (page: number) => Promise<Page>): AsyncGenerator<T> {
  for (let page = 1, seen = 0; page <= MAX_PAGES; page += 1) {
    const { headers, data } = await ask(page);
    const items = z.array(item).parse(data);
    yield* items;
    seen += items.length;
    const total = Number(headers['x-total-count'] ?? Number.NaN);
    const more = String(headers.link ?? '').includes('rel="next"') || seen < total;
    if (items.length === 0 || !more) return;
  }
}

export async function listOf<T>(item: z.ZodType<T>, ask: (page: number) => Promise<Page>): Promise<T[]> {
  const all: T[] = [];
  for await (const each of itemsOf(item, ask)) all.push(each);
  return all;
}
