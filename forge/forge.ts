import type { ReviewRequestReport } from '../contract/agent-state.ts';
import type { PullRequestState, Review } from '../contract/pull-request-event.ts';

/**
 * The port to where pull requests live. The platform writes (opens and updates), the orchestrator reads (states,
 * reviewers). Every method throws `ForgeError` where the forge refuses or can't be reached.
 */

export type PullRequest = {
  /** The page that people open; every method that takes a `url` takes this one. */
  url: string;
  number: number;
  state: PullRequestState;
  title: string;
  /** The forge's login; '' where it has none. */
  author: string;
  headBranch: string;
  headSha: string;
  baseBranch: string;
  /** Null while it isn't merged. */
  mergeCommitSha: string | null;
};

/** `repository` is the address that is cloned, such as https://github.com/acme/docs. */
export type BranchOfRepository = { repository: string; branch: string };

export type NewPullRequest = BranchOfRepository & { base: string; title: string; body: string };

/** What git is given to fetch and push over HTTP. A secret: never logged, never in an argument list. */
export type GitCredentials = { username: string; password: string };

export interface ForgeWriter {
  /** The pull request of a branch: an open one, else the newest; null where there never was one. */
  findPullRequest(target: BranchOfRepository): Promise<PullRequest | null>;
  /** Opens one; where the branch has an open one already, that one is answered, so a repeated call opens nothing new. */
  openPullRequest(request: NewPullRequest): Promise<PullRequest>;
  updatePullRequest(url: string, change: { title?: string; body?: string }): Promise<PullRequest>;
  /** Null where git needs none. */
  gitCredentials(repository: string): Promise<GitCredentials | null>;
}

/** A person or, with `team`, a team (its name without the organization). */
export type ReviewRequests = { logins: readonly string[]; teams: readonly string[] };

export interface ForgeReader {
  readPullRequest(url: string): Promise<PullRequest & { reviews: Review[] }>;
  /** Paths from the repository's root; a renamed file by its old and its new one. */
  listChangedFiles(url: string): Promise<string[]>;
  /** The CODEOWNERS file of the base branch; null where there is none. */
  readCodeOwners(url: string): Promise<string | null>;
  /** Asks each; one that the forge refuses (not a collaborator, unknown, the author) doesn't stop the others. */
  requestReviews(url: string, wanted: ReviewRequests): Promise<ReviewRequestReport>;
  /** The login of who has this mail address, null where the forge doesn't tell. */
  findLogin(mail: string): Promise<string | null>;
  /** The address that a login shows publicly, null where it shows none. */
  findMail(login: string): Promise<string | null>;
  /**
   * The link that lets the reviewer with this mail address act on the pull request, for a mail to that address only; null
   * if the forge has accounts of its own. A secret: never logged.
   */
  reviewLink(url: string, mail: string): Promise<string | null>;
}

/** A forge that is both, as hosted ones are. */
export type Forge = ForgeWriter & ForgeReader;
