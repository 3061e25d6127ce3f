import type { Logger } from 'pino';
import { HttpError } from '../../web/http-error.ts';
import type { Database } from '../store/database.ts';
import type { PullRequestRow } from '../store/pull-requests.ts';

/** What the embedded forge works with. */
export type ForgeContext = {
  db: Database;
  /** The base URL of the pages, without a trailing slash. */
  publicUrl(): string;
  logger: Logger;
};

/** The author of all pull requests here, because there are no accounts. */
export const FORGE_AUTHOR = 'galley';
/** The name of an actor with the operator token. */
export const FORGE_OPERATOR = 'operator';

/** The page of a pull request. */
export function pageOf({ publicUrl }: Pick<ForgeContext, 'publicUrl'>, { id }: Pick<PullRequestRow, 'id'>): string {
  return `${publicUrl()}/pulls/${id}`;
}

/** Rejects a decision about a head that is no longer the current one. */
export function newCommits(): HttpError {
  return new HttpError(409, 'New commits were pushed since this page was loaded: read them, then decide');
}

export const PULL_REQUEST_ID = /^pr_[0-9a-f]{32}$/;
