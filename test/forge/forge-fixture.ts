import type { ReviewVerdict } from '../../contract/pull-request-event.ts';
import type { ForgeReader, ForgeWriter, ReviewText } from '../../forge/forge.ts';

/** Path to content, or null to remove the file. A moved file is removed and added with the same content. */
export type FileChanges = Readonly<Record<string, string | null>>;

/** The writer and reader of a forge. Null if that side can't be in this state (a writer on the database needs no token). */
export type ForgeSides = { writer: ForgeWriter | null; reader: ForgeReader | null };

/** The repository and pull request URL at another forge. The fixture's own by default. */
export type Place = { at?: { repository: string; url: string } };

export type Person = {
  login: string;
  /** The public email address, or null if there is none. */
  mail: string | null;
};

export type TestRepository = {
  /** The repository's URL. */
  repository: string;
  /** Commits to a branch, which is created from `main` if it doesn't exist. Returns the commit's SHA. */
  commit(branch: string, changes: FileChanges): Promise<string>;
  /** Merges as an authorized person. Returns the new commit of `main`. */
  merge(url: string): Promise<string>;
  close(url: string): Promise<void>;
  /** Submits a review by this person. */
  review(url: string, by: Person, verdict: ReviewVerdict, text?: ReviewText): Promise<void>;
};

/** A forge under test, with what the contract suite needs. */
export type ForgeFixture = {
  /** Whether a review has comments on lines. */
  commentsOnLines: boolean;
  writer: ForgeWriter;
  reader: ForgeReader;
  /** A new repository with these files on its branch `main`. */
  createRepository(files: FileChanges): Promise<TestRepository>;
  people: {
    /** The author of the writer's pull requests, or null if the forge has no accounts. */
    author: Person | null;
    /** Two people who may review in every repository. */
    reviewers: readonly [Person, Person];
    /** A name that the forge rejects as unknown, or null if it accepts every name. */
    unknown: string | null;
    /** A person with a hidden email address, or null if the forge never shows addresses. */
    hidden: Person | null;
  };
  /** A URL of this forge without a repository. */
  unknownRepository: string;
  wrongToken: ForgeSides;
  /** A valid token that may neither open nor read pull requests. The error must match `right`. */
  lackingRights: ForgeSides & { right: RegExp };
  /** No server listens. */
  away: ForgeSides & Place;
  /** Accepts the connection and never responds. The timeout is at most a second. */
  hanging: ForgeSides & Place;
  stop(): Promise<void>;
};
