import express, { type Request, type Response } from 'express';
import { z } from 'zod';
import { HttpError } from '../../../web/http-error.ts';
import { closePullRequest, mergePullRequest } from '../../forge/end-pull-request.ts';
import { pageOf } from '../../forge/forge-context.ts';
import { reviewShape } from '../../forge/github-shapes.ts';
import { createReviewLink } from '../../forge/review-links.ts';
import { requestReviewers, submitReview } from '../../forge/review-pull-request.ts';
import { parseInput } from '../../parse-input.ts';
import { recordAction } from '../../store/audit-log.ts';
import { getProject } from '../../store/projects.ts';
import { addRequestedReviewers } from '../../store/pull-request-reviewers.ts';
import type { PullRequestRow } from '../../store/pull-requests.ts';
import { readJsonBody } from '../json-body.ts';
import type { ForgeAccess, ForgeActor } from './access.ts';
import { isBrowser, isForm } from './answers.tsx';
import { loadPullRequest } from './load-pull-request.ts';
import { pullRequestJson, type ReadContext } from './read-pull-request.ts';

export type ChangeContext = ReadContext & {
  access: ForgeAccess;
  /** Called when webhooks are waiting in the outbox. */
  onEvent(): void;
};

/** Reads the body, authorizes the reviewer, and only then loads the pull request. */
async function begin(context: ChangeContext, request: Request, response: Response) {
  const { body, ...sent } = await readSent(request, response);
  const actor = await context.access.allowReviewing(request, sent);
  return { body, actor, row: await loadPullRequest(context, request) };
}

/** The same for actions of the operator only. */
async function beginOperating(context: ChangeContext, request: Request, response: Response) {
  const { body, ...sent } = await readSent(request, response);
  await context.access.allowOperating(request, sent);
  return { body, row: await loadPullRequest(context, request) };
}

/** Redirects a browser to the page; everyone else gets JSON. */
async function end(
  context: ChangeContext,
  { request, response }: { request: Request; response: Response },
  { row, status = 200, json }: { row: PullRequestRow; status?: number; json: () => Promise<object> },
): Promise<void> {
  context.onEvent();
  if (isBrowser(request)) response.redirect(303, `../${row.id}`);
  else response.status(status).json(await json());
}

/** The commit that the sender has seen; the page's forms have it. Programs may leave it out. */
const head = z
  .string()
  .regex(/^[0-9a-f]{40,64}$/, "expected a commit's full SHA")
  .optional();

const mergeRequest = z.object({ head });

export async function merge(context: ChangeContext, request: Request, response: Response): Promise<void> {
  const { body, row, actor } = await begin(context, request, response);
  const merged = await mergePullRequest(context, row, { by: actor.name, ...parseInput(mergeRequest, body) });
  await recordPullAction(context, row, { actor, action: 'pull.merge' });
  const json = async () => ({ ...(await pullRequestJson(context, merged)), sha: merged.mergeCommitSha });
  await end(context, { request, response }, { row, json });
}

export async function close(context: ChangeContext, request: Request, response: Response): Promise<void> {
  const { row, actor } = await begin(context, request, response);
  const closed = await closePullRequest(context, row, actor.name);
  await recordPullAction(context, row, { actor, action: 'pull.close' });
  await end(context, { request, response }, { row, json: () => pullRequestJson(context, closed) });
}

/** Adds to the audit log of the project's organization. A repository without a project has none. */
async function recordPullAction(
  { db }: ChangeContext,
  { id, projectId }: PullRequestRow,
  { actor, action, detail }: { actor: ForgeActor; action: string; detail?: string },
): Promise<void> {
  const project = projectId === null ? undefined : await getProject(db, projectId);
  if (project === undefined) return;
  const kind = actor.kind === 'operator' ? 'operator' : 'member';
  const who = { kind, id: actor.name, name: actor.name } as const;
  await recordAction(db, { organizationId: project.organizationId, actor: who, action, target: id, detail });
}

const name = z
  .string()
  .trim()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/, 'expected a name of letters, digits, ".", "-" and "_"');

const VERDICTS = { APPROVE: 'approved', REQUEST_CHANGES: 'changes-requested', COMMENT: 'commented' } as const;

const reviewRequest = z.object({
  event: z.enum(['APPROVE', 'REQUEST_CHANGES', 'COMMENT'], { error: 'expected APPROVE, REQUEST_CHANGES or COMMENT' }),
  /** The reviewer's name if the operator sends the review. A reviewer's link names its own. */
  reviewer: name.optional(),
  body: z.string().max(65_536).default(''),
  head,
});

export async function addReview(context: ChangeContext, request: Request, response: Response): Promise<void> {
  const { body, actor, row } = await begin(context, request, response);
  const isReviewer = actor.kind !== 'operator';
  if (isReviewer && body.reviewer !== undefined && body.reviewer !== actor.name) {
    throw new HttpError(403, `You review as ${actor.name} only`);
  }
  const sent = isReviewer ? { ...body, reviewer: undefined } : body;
  const schema = isReviewer ? reviewRequest : reviewRequest.required({ reviewer: true });
  const { event, reviewer = actor.name, body: words, head: seen } = parseInput(schema, sent);
  const added = await submitReview(context, row, { reviewer, verdict: VERDICTS[event], body: words, head: seen });
  await recordPullAction(context, row, { actor, action: 'pull.review', detail: VERDICTS[event] });
  await end(context, { request, response }, { row, json: async () => reviewShape(added, pageOf(context, row)) });
}

const reviewersRequest = z.object({
  reviewers: z.array(name).max(50).default([]),
  team_reviewers: z.array(name).max(50).default([]),
});

export async function askForReviews(context: ChangeContext, request: Request, response: Response): Promise<void> {
  const { body, row } = await beginOperating(context, request, response);
  const { reviewers, team_reviewers: teams } = parseInput(reviewersRequest, body);
  await requestReviewers(context, row, [
    ...reviewers.map((each) => ({ kind: 'user' as const, name: each })),
    ...teams.map((each) => ({ kind: 'team' as const, name: each })),
  ]);
  await end(context, { request, response }, { row, status: 201, json: () => pullRequestJson(context, row) });
}

const linkRequest = z.object({ reviewer: z.email('expected a mail address').max(254) });

/** The link for a reviewer's mail. It is secret and not exposed anywhere else; only that the reviewer got one is kept. */
export async function giveReviewLink(context: ChangeContext, request: Request, response: Response): Promise<void> {
  const { body, row } = await beginOperating(context, request, response);
  const { reviewer } = parseInput(linkRequest, body);
  const { url, expiresAt } = await createReviewLink(context, row, { reviewer, now: context.now() });
  await addRequestedReviewers(context.db, row.id, [{ kind: 'mail', name: reviewer }]);
  response.status(201).json({ url, expires_at: expiresAt.toISOString() });
}

const MAX_FORM_BYTES = 256 * 1024;

const parse = express.urlencoded({ limit: MAX_FORM_BYTES, extended: false, parameterLimit: 20 });

const fields = z.record(z.string(), z.unknown());

type Sent = {
  /** The fields without the token. */
  body: Record<string, unknown>;
  /** The form's `token` field. The token is never taken from a URL or from JSON. */
  formToken: string | undefined;
  /** The form's `csrf` field: a member's page has it. */
  formCsrf?: string | undefined;
};

/** Parses a body: a page's form, JSON, or nothing. Throws an `HttpError`: 400 (malformed), 413, 415. */
async function readSent(request: Request, response: Response): Promise<Sent> {
  if (!request.headers['content-type'] && !hasBody(request)) return { body: {}, formToken: undefined };
  if (!isForm(request.headers['content-type'] ?? '')) {
    const body = hasBody(request) ? fields.safeParse(await readJsonBody(request, response)).data : {};
    if (body === undefined) throw new HttpError(400, 'The body must be a JSON object');
    return { body, formToken: undefined };
  }
  await new Promise<void>((resolve, reject) => {
    parse(request, response, (error?: unknown) => (error === undefined ? resolve() : reject(error)));
  });
  const { token, csrf, ...body } = fields.safeParse(request.body).data ?? {};
  return { body, formToken: textOf(token)?.trim(), formCsrf: textOf(csrf) };
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function hasBody(request: Request): boolean {
  return request.headers['transfer-encoding'] !== undefined || Number(request.headers['content-length'] ?? 0) > 0;
}
