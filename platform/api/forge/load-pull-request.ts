import type { Request } from 'express';
import { ForgeError } from '../../../forge/forge-error.ts';
import { HttpError } from '../../../web/http-error.ts';
import { type ForgeContext, PULL_REQUEST_ID } from '../../forge/forge-context.ts';
import { refreshPullRequest } from '../../forge/refresh-pull-request.ts';
import { openRepository, type Repository } from '../../forge/repository.ts';
import { getPullRequest, type PullRequestRow } from '../../store/pull-requests.ts';

/** The pull request of the path, updated from its branches. Throws an `HttpError` 404 if there is none. */
export async function loadPullRequest(context: ForgeContext, request: Request): Promise<PullRequestRow> {
  const { id } = request.params;
  const known = typeof id === 'string' && PULL_REQUEST_ID.test(id) ? await getPullRequest(context.db, id) : undefined;
  if (known === undefined) throw new HttpError(404, 'There is no such pull request');
  return await whereThere(() => refreshPullRequest(context, known), known);
}

/** Undefined if the repository is gone: the page still shows what the database has. */
export async function findRepository(row: PullRequestRow): Promise<Repository | undefined> {
  return await whereThere(() => openRepository(row.repository), undefined);
}

async function whereThere<Result, Otherwise>(
  read: () => Promise<Result>,
  otherwise: Otherwise,
): Promise<Result | Otherwise> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof ForgeError && error.status === 404) return otherwise;
    throw error;
  }
}
