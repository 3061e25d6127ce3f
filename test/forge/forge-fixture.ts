import type { ReviewVerdict } from '../../contract/pull-request-event.ts';
import type { ForgeReader, ForgeWriter } from '../../forge/forge.ts';

/** Path to content; null removes the file. A file that moves is one removed and one added with the same content. */
export type FileChanges = Readonly<Record<string, string | null>>;

/** Both sides of a forge; null where that side can't be in this state (a writer on the database needs no token). */
export type ForgeSides = { writer: ForgeWriter | null; reader: ForgeReader | null };

/** Where a forge of another address than the fixture's has a repository and a pull request; the fixture's own where missing. */
export type Place = { at?: { repository: string; url: string } };

export type Person = {
  login: string;
  /** The address that the forge shows to everybody; null where it has none to show. */
  mail: string | null;
};

export type TestRepository = {
  /** As it is given to the forge's methods. */
  repository: string;
  /** Puts one commit on a branch, which is made from `main` where it is missing; answers the commit's SHA. */
  commit(branch: string, changes: FileChanges): Promise<string>;
  /** Merges as somebody who may; answers the commit that is on `main` then. */
  merge(url: string): Promise<string>;
  close(url: string): Promise<void>;
  /** Submits a review as this person. */
  review(url: string, by: Person, verdict: ReviewVerdict): Promise<void>;
};

/** What the contract suite needs of a forge under test. */
export type ForgeFixture = {
  writer: ForgeWriter;
  reader: ForgeReader;
  /** A fresh repository whose branch `main` holds these files. */
  createRepository(files: FileChanges): Promise<TestRepository>;
  people: {
    /** Who the writer opens pull requests as; null where the forge has no accounts. */
    author: Person | null;
    /** Two who may review in every repository of the fixture. */
    reviewers: readonly [Person, Person];
    /** A name that the forge refuses as unknown; null where it takes every name. */
    unknown: string | null;
    /** The writer's own name, or anybody's, with an address that isn't shown; null where addresses are never shown. */
    hidden: Person | null;
  };
  /** An address of this forge at which there is no repository. */
  unknownRepository: string;
  wrongToken: ForgeSides;
  /** A token that is good but may neither open pull requests nor read them; `right` is what the refusal must name. */
  lackingRights: ForgeSides & { right: RegExp };
  /** Nothing listens. */
  away: ForgeSides & Place;
  /** Takes the connection and never answers; the deadline is at most a second. */
  hanging: ForgeSides & Place;
  stop(): Promise<void>;
};
