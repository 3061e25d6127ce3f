import type { Express, Request, Response } from 'express';
import { methodNotAllowed } from '../error-handler.ts';
import { createForgeAccess } from './access.ts';
import { forgeHandler, forgeHeaders } from './answers.ts';
import { askForReviews, type ChangeContext, close, giveReviewLink, merge, review } from './change-pull-request.ts';
import { openReviewLink } from './open-review-link.ts';
import { PAGE_STYLE } from './page-style.ts';
import {
  answerCodeOwners,
  answerFiles,
  answerPullRequest,
  answerReviews,
  type ReadContext,
} from './read-pull-request.ts';

export type ForgeRoutesContext = ReadContext & {
  /** Opens merging, closing and reviewing to operators, and makes the links that open them to reviewers. */
  operatorToken?: string | undefined;
  /** Told where webhooks wait to be sent; what isn't told is found by looking. */
  onForgeEvent?: (() => void) | undefined;
};

type Answer = (context: ReadContext, request: Request, response: Response) => Promise<void>;
type Change = (context: ChangeContext, request: Request, response: Response) => Promise<void>;

const PULL_REQUEST = '/pulls/:id';

/**
 * The embedded forge's pages. Not in the OpenAPI document: they are no part of the Admin API, but what GitHub is to
 * other repositories.
 */
export function addForgeRoutes(app: Express, { operatorToken, onForgeEvent, ...context }: ForgeRoutesContext): void {
  const access = createForgeAccess({ db: context.db, operatorToken, now: context.now });
  const changing: ChangeContext = { ...context, access, onEvent: onForgeEvent ?? (() => undefined) };
  const reading = (answer: Answer) =>
    forgeHandler(async (request, response) => {
      await access.allowReading(request);
      await answer(context, request, response);
    });
  const posting = (change: Change) => forgeHandler((request, response) => change(changing, request, response));

  app.use('/pulls', forgeHeaders);
  app
    .route('/pulls/style.css')
    .get((_request, response) => {
      response.set('Cache-Control', 'max-age=300').type('css').send(PAGE_STYLE);
    })
    .all(methodNotAllowed(['GET', 'HEAD']));
  app
    .route(PULL_REQUEST)
    .get(reading(answerPullRequest))
    .all(methodNotAllowed(['GET', 'HEAD']));
  app
    .route(`${PULL_REQUEST}/files`)
    .get(reading(answerFiles))
    .all(methodNotAllowed(['GET', 'HEAD']));
  app
    .route(`${PULL_REQUEST}/codeowners`)
    .get(reading(answerCodeOwners))
    .all(methodNotAllowed(['GET', 'HEAD']));
  // Without the check of a token: the link brings its own.
  app
    .route(`${PULL_REQUEST}/review`)
    .get(forgeHandler((request, response) => openReviewLink(context, request, response)))
    .all(methodNotAllowed(['GET', 'HEAD']));
  app
    .route(`${PULL_REQUEST}/reviews`)
    .get(reading(answerReviews))
    .post(posting(review))
    .all(methodNotAllowed(['GET', 'HEAD', 'POST']));
  const changes = { requested_reviewers: askForReviews, review_links: giveReviewLink, merge, close };
  for (const [path, change] of Object.entries(changes)) {
    app
      .route(`${PULL_REQUEST}/${path}`)
      .post(posting(change))
      .all(methodNotAllowed(['POST']));
  }
}
