import type { Express, Request, Response } from 'express';
import { HttpError } from '../../../web/http-error.ts';
import { fieldOf } from '../../../web/request.ts';
import { pageOf } from '../../forge/forge-context.ts';
import { readReviewToken } from '../../forge/review-links.ts';
import { addRoute } from '../add-route.ts';
import { createForgeAccess, type MemberAccess } from './access.ts';
import { forgeHandler, forgeHeaders, isBrowser } from './answers.tsx';
import { addReview, askForReviews, type ChangeContext, close, giveReviewLink, merge } from './change-pull-request.ts';
import { loadPullRequest } from './load-pull-request.ts';
import { type ReadContext, sendCodeOwners, sendFiles, sendPullRequest, sendReviews } from './read-pull-request.ts';
import { keepReviewToken } from './review-cookie.ts';

type ForgeRoutesContext = ReadContext & {
  /** Enables merging, closing and reviewing by operators, and reviewers' links. */
  operatorToken?: string | undefined;
  /** How members of the dashboard act here; undefined: they can't. */
  members?: MemberAccess | undefined;
  /** Called when webhooks are waiting in the outbox; the dispatcher polls for the rest. */
  onForgeEvent?: (() => void) | undefined;
};

type Answer = (context: ReadContext, request: Request, response: Response) => Promise<void>;
type Change = (context: ChangeContext, request: Request, response: Response) => Promise<void>;

const PULL_REQUEST = '/pulls/:id';

/** Rejections that a reader of the page can do something about. */
const STAYS_ON_PAGE: ReadonlySet<number> = new Set([400, 401, 403, 409, 410]);

/** What was typed into the form's remark. */
function remarkOf(request: Request): string {
  return fieldOf(request, 'body').replaceAll('\r\n', '\n').slice(0, 60_000);
}

/** The embedded forge's pages. Not in the OpenAPI document: they correspond to GitHub's site, not to the Admin API. */
export function addForgeRoutes(app: Express, { operatorToken, onForgeEvent, ...context }: ForgeRoutesContext): void {
  const { members, db, now } = context;
  const access = createForgeAccess({ db, operatorToken, members, now });
  const changing: ChangeContext = { ...context, access, onEvent: onForgeEvent ?? (() => undefined) };
  const reading = (answer: Answer) =>
    forgeHandler(async (request, response) => {
      await access.allowReading(request);
      await answer(context, request, response);
    });
  const posting = (change: Change) =>
    forgeHandler(async (request, response) => {
      try {
        await change(changing, request, response);
      } catch (error) {
        // In a browser, what went wrong is said on the same page, with what was typed.
        if (!isBrowser(request) || !(error instanceof HttpError) || !STAYS_ON_PAGE.has(error.status)) throw error;
        const problem = { status: error.status, message: error.message, remark: remarkOf(request) };
        response.set(error.headers);
        await sendPullRequest(context, request, response, problem);
      }
    });

  app.use('/pulls', forgeHeaders);
  addRoute(app, PULL_REQUEST, { get: reading(sendPullRequest) });
  addRoute(app, `${PULL_REQUEST}/files`, { get: reading(sendFiles) });
  addRoute(app, `${PULL_REQUEST}/codeowners`, { get: reading(sendCodeOwners) });
  // Not behind the token check, because the link has its own token.
  addRoute(app, `${PULL_REQUEST}/review`, {
    get: forgeHandler((request, response) => openReviewLink(context, request, response)),
  });
  addRoute(app, `${PULL_REQUEST}/reviews`, { get: reading(sendReviews), post: posting(addReview) });
  const changes = { requested_reviewers: askForReviews, review_links: giveReviewLink, merge, close };
  for (const [path, change] of Object.entries(changes)) {
    addRoute(app, `${PULL_REQUEST}/${path}`, { post: posting(change) });
  }
}

/** Opens a reviewer's link: stores its token for the page and redirects there. Throws what `readReviewToken` does. */
async function openReviewLink(context: ReadContext, request: Request, response: Response): Promise<void> {
  const row = await loadPullRequest(context, request);
  const { key } = request.query;
  const token = typeof key === 'string' ? key : '';
  const now = context.now();
  const { expiresAt } = readReviewToken(row, token, now);
  keepReviewToken(response, token, { page: pageOf(context, row), expiresAt, now });
  response.redirect(303, `../${row.id}`);
}
