import type { Request, Response } from 'express';
import { HttpError } from '../../../web/http-error.ts';
import { sendPage } from '../../../web/send-page.ts';
import { type ChangedFile, listChangedFiles } from '../../forge/changes/changed-files.ts';
import { readCodeOwners } from '../../forge/changes/code-owners.ts';
import { changedRange, readChanges } from '../../forge/changes/read-changes.ts';
import { readBranch } from '../../forge/commits.ts';
import { type ForgeContext, pageOf } from '../../forge/forge-context.ts';
import { pullRequestShape, reviewShape } from '../../forge/github-shapes.ts';
import { readReviewToken } from '../../forge/review-links.ts';
import { listRequestedReviewers } from '../../store/pull-request-reviewers.ts';
import { listReviews } from '../../store/pull-request-reviews.ts';
import type { PullRequestRow } from '../../store/pull-requests.ts';
import type { MemberAccess } from './access.ts';
import { wantsPage } from './answers.tsx';
import { type ActingReviewer, ASKS_TO_CLOSE } from './forms.tsx';
import { findRepository, loadPullRequest } from './load-pull-request.ts';
import { PullRequestPage } from './page.tsx';
import { keptReviewToken } from './review-cookie.ts';

export type ReadContext = ForgeContext & { now(): Date; members?: MemberAccess | undefined };

/** The newest reviews, up to more than a change ever has. */
const REVIEWS = 1_000;

/** The page, or the same as JSON. With a `problem`, it answers a form whose action was rejected. */
export async function sendPullRequest(
  context: ReadContext,
  request: Request,
  response: Response,
  problem?: { status: number; message: string; remark: string },
): Promise<void> {
  const row = await loadPullRequest(context, request);
  if (!wantsPage(request)) {
    response.json(await pullRequestJson(context, row));
    return;
  }
  const asked = await listRequestedReviewers(context.db, row.id);
  const reviews = await listReviews(context.db, row.id, REVIEWS);
  const repository = await findRepository(row);
  const changes = repository && (await readChanges(repository, row));
  const acting = actingReviewer(context, request, row) ?? (await context.members?.findReviewer(request, row));
  const canSignIn = context.members !== undefined;
  // A form's own path is one level deeper than the page's.
  const root = problem === undefined ? '' : '../';
  const asksToClose = request.path.endsWith('/close') || ASKS_TO_CLOSE in request.query;
  const page = PullRequestPage({ row, asked, reviews, changes, acting, asksToClose, canSignIn, problem, root });
  await sendPage(request, response, page, problem?.status);
}

/** The reviewer whose link opened the page; undefined if none did or it has ended. */
function actingReviewer(context: ReadContext, request: Request, row: PullRequestRow): ActingReviewer | undefined {
  const token = keptReviewToken(request, pageOf(context, row));
  if (token === undefined) return undefined;
  try {
    return { name: readReviewToken(row, token, context.now()).reviewer, token };
  } catch (error) {
    if (error instanceof HttpError) return undefined;
    throw error;
  }
}

export async function pullRequestJson(context: ForgeContext, row: PullRequestRow) {
  const asked = await listRequestedReviewers(context.db, row.id);
  return pullRequestShape(row, { url: pageOf(context, row), asked });
}

export async function sendReviews(context: ForgeContext, request: Request, response: Response): Promise<void> {
  const row = await loadPullRequest(context, request);
  const reviews = await listReviews(context.db, row.id, REVIEWS);
  response.json(reviews.map((review) => reviewShape(review, pageOf(context, row))));
}

/** All owners, not only those of listed files: each gets a review request. */
export async function sendFiles(context: ForgeContext, request: Request, response: Response): Promise<void> {
  const row = await loadPullRequest(context, request);
  const repository = await findRepository(row);
  const range = repository && (await changedRange(repository.git, row));
  const files = repository && range ? await listChangedFiles(repository.git, range) : [];
  response.json(files.map(fileShape));
}

function fileShape({ path, previousPath, status, additions, deletions }: ChangedFile) {
  const counts = { additions: additions ?? 0, deletions: deletions ?? 0 };
  return {
    filename: path,
    ...(previousPath !== null && { previous_filename: previousPath }),
    status,
    ...counts,
    changes: counts.additions + counts.deletions,
  };
}

/** Sends the base branch's CODEOWNERS, so that a proposal can't choose its own reviewers. */
export async function sendCodeOwners(context: ForgeContext, request: Request, response: Response): Promise<void> {
  const row = await loadPullRequest(context, request);
  const repository = await findRepository(row);
  const commit = repository && (await readBranch(repository.git, row.baseBranch));
  const found = repository && commit ? await readCodeOwners(repository.git, commit) : undefined;
  response.json({ path: found?.path ?? null, content: found?.content ?? null });
}
