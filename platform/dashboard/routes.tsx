import { toNodeHandler } from 'better-auth/node';
import express, { type ErrorRequestHandler, type Express, type Router } from 'express';
import type { Crumb } from '../../ui/page.tsx';
import { ErrorPage } from '../../ui/short-page.tsx';
import { clientAddress } from '../../web/client-address.ts';
import { HttpError } from '../../web/http-error.ts';
import { renderErrors } from '../../web/render-errors.ts';
import { sendPage } from '../../web/send-page.ts';
import { createGuessing, type Wait } from '../../web/slow-guesses.ts';
import { createTurns } from '../../web/turns.ts';
import { methodNotAllowed } from '../api/add-route.ts';
import { asPlatformError } from '../api/error-handler.ts';
import type { ApiContext } from '../api/platform-api-deps.ts';
import { withoutValues } from '../store/query-error.ts';
import { requireMember } from './access.ts';
import { addAccountRoutes } from './account.tsx';
import { addAgentRoutes } from './agents/agent-routes.tsx';
import { addAuditRoutes } from './audit.tsx';
import type { Auth } from './auth.ts';
import { AUTH_PATH, CLIENT_HEADER, OPENID, type OpenIdSettings } from './auth-settings.ts';
import type { DashboardContext } from './dashboard-context.ts';
import { addExportRoutes } from './exports/export-routes.tsx';
import { addJoinRoutes } from './join-routes.tsx';
import { addKeyRoutes } from './keys.tsx';
import { addMemberRoutes } from './members.tsx';
import { addOverviewRoutes } from './overview.tsx';
import { addProjectRoutes } from './projects/project-routes.tsx';
import { addResetRoutes } from './reset-routes.tsx';
import { createSignInFailures } from './sign-in-lanes.ts';
import { addMemberSignInRoutes } from './sign-in-routes.tsx';
import { addOwnerLinks, addSitesPage, type SitesPage } from './sites-page.tsx';

/** Passwords from one client network that wait to be checked, each for the time of some hashes. */
const MAX_ANONYMOUS = 100;

type DashboardOptions = {
  context: ApiContext;
  operatorToken: string;
  openId?: OpenIdSettings | undefined;
  sitesPage?: SitesPage | undefined;
  stopped?: AbortSignal | undefined;
  wait?: Wait | undefined;
};

/** What pages need: sessions, and everything of the API. */
export function createDashboardContext({
  context,
  operatorToken,
  openId,
  sitesPage,
  stopped,
  wait,
}: DashboardOptions): DashboardContext {
  const admitted = new Set<string>();
  let auth: Promise<Auth> | undefined;
  return {
    ...context,
    ...{ operatorToken, openId, sitesPage, stopped, admitted },
    guess: createGuessing(createSignInFailures(context.db), wait),
    anonymousTurns: createTurns(MAX_ANONYMOUS),
    auth() {
      const { db, logger } = context;
      const create = async (): Promise<Auth> => {
        const { createAuth } = await import('./auth.ts');
        return createAuth({ db, logger, operatorToken, openId, admitted, publicUrl: context.publicUrl() });
      };
      // A failure isn't kept: the next request tries again.
      auth ??= create().catch((error: unknown) => {
        auth = undefined;
        throw error;
      });
      return auth;
    },
  };
}

/** The dashboard: `/` and everything below `/ui`. Errors are pages, too. */
export function addDashboard(app: Express, context: DashboardContext): void {
  const router = express.Router({ strict: true, caseSensitive: true });
  addAuthRoutes(router, context);
  addMemberSignInRoutes(router, context);
  addJoinRoutes(router, context);
  addResetRoutes(router, context);
  addOwnerLinks(router, context);
  // By path, because the router also sees the requests of other routes.
  router.use(['/ui', /^\/$/], requireMember(context));
  addOverviewRoutes(router, context);
  addProjectRoutes(router, context);
  addExportRoutes(router, context);
  addAgentRoutes(router, context);
  addKeyRoutes(router, context);
  addMemberRoutes(router, context);
  addAuditRoutes(router, context);
  addAccountRoutes(router, context);
  addSitesPage(router, context);
  router.use('/ui', () => {
    throw new HttpError(404, 'There is no such page');
  });
  router.use(renderErrorPages(context));
  app.use(router);
}

/** The routes of Better Auth that browsers call themselves; all others are reached only through the pages. */
const AUTH_ROUTES = {
  '/passkey/generate-register-options': 'GET',
  '/passkey/verify-registration': 'POST',
  '/passkey/generate-authenticate-options': 'GET',
  '/passkey/verify-authentication': 'POST',
  [`/callback/${OPENID}`]: 'GET',
} as const;

function addAuthRoutes(router: Router, context: DashboardContext): void {
  for (const [path, method] of Object.entries(AUTH_ROUTES)) {
    router.all(`${AUTH_PATH}${path}`, async (request, response) => {
      if (request.method !== method) methodNotAllowed([method])(request, response, () => undefined);
      // Sessions have this address; a client can't choose it.
      request.headers[CLIENT_HEADER] = clientAddress(request);
      await toNodeHandler(await context.auth())(request, response);
    });
  }
}

function renderErrorPages({ logger }: DashboardContext): ErrorRequestHandler {
  return renderErrors({
    toRefusal: asPlatformError,
    log(error, { status }, _request, response) {
      const requestId = response.get('x-request-id');
      if (status >= 500) logger.error({ err: withoutValues(error), requestId }, 'A page failed');
    },
    send({ status, message }, request, response) {
      // What is closed has no list to go back to.
      const back = backOf(status === 403 ? '/' : request.path);
      const page = <ErrorPage {...{ status, message, back }} />;
      return sendPage(request, response, page, status);
    },
  });
}

/** The page to go on to after an error: the one whose form was sent, or its list. */
function backOf(path: string): Crumb {
  const page = /^\/ui\/(?:exports|agents|projects)(?=\/)|^\/ui\/settings\/\w+/.exec(path)?.[0];
  return { label: 'Back', href: page ?? '/' };
}
