import express, { type ErrorRequestHandler, type Express } from 'express';
import { ASSETS_PATH } from '../../ui/assets.ts';
import type { Crumb } from '../../ui/page.tsx';
import { ErrorPage } from '../../ui/short-page.tsx';
import { HttpError } from '../../web/http-error.ts';
import { renderErrors } from '../../web/render-errors.ts';
import { sendPage } from '../../web/send-page.ts';
import { serveAssets } from '../../web/serve-assets.ts';
import { asHttpError, onlyMethods } from '../http-edge.ts';
import { requireOperator } from './access.ts';
import { addActionRoutes } from './action-routes.tsx';
import type { PagesDeps } from './pages-deps.ts';
import { createSessions } from './session.ts';
import { addDashboardLink, addOperatorSignInRoutes } from './sign-in-routes.tsx';
import { addSiteRoutes } from './site-routes.tsx';

/**
 * The sites page: `/` and everything below `/ui`. Operators sign in with the operator token. Errors are pages, too.
 */
export function addPages(app: Express, deps: PagesDeps): void {
  const { operatorToken, now } = deps;
  const sessions = operatorToken === undefined ? undefined : createSessions(operatorToken, now);
  const router = express.Router();
  router
    .route(`${ASSETS_PATH}/:file`)
    .get(serveAssets(), () => {
      throw new HttpError(404, 'no such file');
    })
    .all(onlyMethods('GET', 'HEAD'));
  addOperatorSignInRoutes(router, { ...deps, sessions });
  // By path, because the router also sees the requests of other routes.
  router.use(['/ui', /^\/$/], requireOperator(sessions, deps));
  addSiteRoutes(router, deps, sessions);
  addActionRoutes(router, deps);
  addDashboardLink(router, deps);
  router.use('/ui', () => {
    throw new HttpError(404, 'there is no such page');
  });
  router.use(renderErrorPages(deps));
  app.use(router);
}

function renderErrorPages({ logger }: PagesDeps): ErrorRequestHandler {
  return renderErrors({
    toRefusal: asHttpError,
    log(error, { status }, _request, response) {
      const requestId = response.get('x-request-id');
      if (status === 500) logger.error({ err: error, requestId }, 'A page failed');
    },
    send({ status, message }, request, response) {
      const page = <ErrorPage {...{ status, message, back: backOf(request.path) }} />;
      return sendPage(request, response, page, status);
    },
  });
}

/** The page to go on to after an error: the site's, if it has one. */
function backOf(path: string): Crumb {
  const site = /^\/ui\/sites\/[\w-]+(?=\/)/.exec(path)?.[0];
  return { label: 'Back', href: site ?? '/' };
}
