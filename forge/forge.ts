import type { ReviewRequestReport } from '../contract/agent-state.ts';
import type { ChangeRequest, PullRequestState, Review } from '../contract/pull-request-event.ts';

/**
 * Port to the host of pull requests. The platform writes (opens and updates), the orchestrator reads (states,
 * reviewers). Every method throws `ForgeError` if the forge rejects the call or can't be reached.
 */

export type PullRequest = {
  /** The pull request's web page; the `url` of all methods. */
  url: string;
  number: number;
  state: PullRequestState;
  title: string;
  /** The forge's login; '' if it has none. */
  author: string;
  headBranch: string;
  headSha: string;
  baseBranch: string;
  /** Null until it is merged. */
  mergeCommitSha: string | null;
};

/** `repository` is the clone URL, such as https://github.com/acme/docs. */
type BranchOfRepository = { repository: string; branch: string };

export type NewPullRequest = BranchOfRepository & { base: string; title: string; body: string };

/** Credentials for git over HTTP. A secret: never logged, never in an argument list. */
export type GitCredentials = { username: string; password: string };

export interface ForgeWriter {
  /** A branch's pull request: the open one, otherwise the newest; null if there never was one. */
  findPullRequest(target: BranchOfRepository): Promise<PullRequest | null>;
  /** Opens a pull request, or returns the branch's open one, so a repeated call opens nothing new. */
  openPullRequest(request: NewPullRequest): Promise<PullRequest>;
  updatePullRequest(url: string, change: { title?: string; body?: string }): Promise<PullRequest>;
  /** Null if git needs none. */
  gitCredentials(repository: string): Promise<GitCredentials | null>;
}

/** A person or, with `team`, a team (its name without the organization). */
export type ReviewRequests = { logins: readonly string[]; teams: readonly string[] };

/** What a review says: its text, and its comments on lines of files. */
export type ReviewText = { body: string; comments: { path: string; line: number | null; body: string }[] };

export interface ForgeReader {
  readPullRequest(url: string): Promise<PullRequest & { reviews: Review[]; changeRequests: ChangeRequest[] }>;
  readReview(url: string, id: string): Promise<ReviewText>;
  /** Paths relative to the repository's root; a renamed file has its old and its new one. */
  listChangedFiles(url: string): Promise<string[]>;
  /** The base branch's CODEOWNERS file; null if there is none. */
  readCodeOwners(url: string): Promise<string | null>;
  /**
   * Requests each review; one that the forge rejects (not a collaborator, unknown, the author) doesn't stop the others.
   */
  requestReviews(url: string, requests: ReviewRequests): Promise<ReviewRequestReport>;
  /** The login with this mail address; null if the forge doesn't say. */
  findLogin(mail: string): Promise<string | null>;
  /** A login's public mail address; null if it has none. */
  findMail(login: string): Promise<string | null>;
  /**
   * The link with which the reviewer of this mail address can act on the pull request, for a mail to that address only;
   * null if the forge has accounts. A secret: never logged.
   */
  reviewLink(url: string, mail: string): Promise<string | null>;
}

/** Both ports, as hosted forges implement them. */
export type Forge = ForgeWriter & ForgeReader;
