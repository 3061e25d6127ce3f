import type { Request, Response } from 'express';
import { z } from 'zod';
import { closePullRequest, mergePullRequest } from '../../forge/end-pull-request.ts';
import { type ForgeContext, pageOf } from '../../forge/forge-context.ts';
import { reviewShape } from '../../forge/github-shapes.ts';
import { requestReviewers, submitReview } from '../../forge/review-pull-request.ts';
import { parseInput } from '../../parse-input.ts';
import type { PullRequestRow } from '../../store/pull-requests.ts';
import type { ForgeAccess } from './access.ts';
import { isBrowser } from './answers.ts';
import { readSent } from './form-body.ts';
import { loadPullRequest } from './load-pull-request.ts';
import { pullRequestJson } from './read-pull-request.ts';

export type ChangeContext = ForgeContext & {
  access: ForgeAccess;
  /** Webhooks are waiting to be sent. */
  onEvent(): void;
};

/** Reads what was sent, lets only the operator through, and only then looks whether there is such a pull request. */
async function begin(context: ChangeContext, request: Request, response: Response) {
  const { body, formToken } = await readSent(request, response);
  await context.access.allowChanging(request, formToken);
  return { body, row: await loadPullRequest(context, request) };
}

/** A browser is led back to the page; everyone else is told in JSON. */
async function end(
  context: ChangeContext,
  { request, response }: { request: Request; response: Response },
  { row, status = 200, json }: { row: PullRequestRow; status?: number; json: () => Promise<object> },
): Promise<void> {
  context.onEvent();
  if (isBrowser(request)) response.redirect(303, `../${row.id}`);
  else response.status(status).json(await json());
}

export async function merge(context: ChangeContext, request: Request, response: Response): Promise<void> {
  const { row } = await begin(context, request, response);
  const merged = await mergePullRequest(context, row);
  const json = async () => ({ ...(await pullRequestJson(context, merged)), sha: merged.mergeCommitSha });
  await end(context, { request, response }, { row, json });
}

export async function close(context: ChangeContext, request: Request, response: Response): Promise<void> {
  const { row } = await begin(context, request, response);
  const closed = await closePullRequest(context, row);
  await end(context, { request, response }, { row, json: () => pullRequestJson(context, closed) });
}

const name = z
  .string()
  .trim()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/, 'expected a name of letters, digits, ".", "-" and "_"');

const VERDICTS = { APPROVE: 'approved', REQUEST_CHANGES: 'changes-requested', COMMENT: 'commented' } as const;

const reviewRequest = z.object({
  event: z.enum(['APPROVE', 'REQUEST_CHANGES', 'COMMENT'], { error: 'expected APPROVE, REQUEST_CHANGES or COMMENT' }),
  reviewer: name,
  body: z.string().max(65_536).default(''),
});

export async function review(context: ChangeContext, request: Request, response: Response): Promise<void> {
  const { body, row } = await begin(context, request, response);
  const { event, reviewer, body: words } = parseInput(reviewRequest, body);
  const added = await submitReview(context, row, { reviewer, verdict: VERDICTS[event], body: words });
  await end(context, { request, response }, { row, json: async () => reviewShape(added, pageOf(context, row)) });
}

const reviewersRequest = z.object({
  reviewers: z.array(name).max(50).default([]),
  team_reviewers: z.array(name).max(50).default([]),
});

export async function askForReviews(context: ChangeContext, request: Request, response: Response): Promise<void> {
  const { body, row } = await begin(context, request, response);
  const { reviewers, team_reviewers: teams } = parseInput(reviewersRequest, body);
  await requestReviewers(context, row, [
    ...reviewers.map((each) => ({ kind: 'user' as const, name: each })),
    ...teams.map((each) => ({ kind: 'team' as const, name: each })),
  ]);
  await end(context, { request, response }, { row, status: 201, json: () => pullRequestJson(context, row) });
}
