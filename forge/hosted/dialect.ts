import type { Octokit } from '@octokit/rest';
import type { PullRequest } from '../forge.ts';
import type { RepositoryTarget } from './connection.ts';
import type { Refusal } from './refusal.ts';
import type { PullRequestResponse, ReviewCommentResponse } from './responses.ts';

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
