import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'drizzle-orm';
import express, { type Express, type RequestHandler } from 'express';
import type { Logger } from 'pino';
import { formatDurationMs } from '../../contract/duration.ts';
import { ASSETS_PATH } from '../../ui/assets.ts';
import { HttpError } from '../../web/http-error.ts';
import { setRequestId } from '../../web/request-id.ts';
import { retryAfter } from '../../web/retry-after.ts';
import { serveAssets } from '../../web/serve-assets.ts';
import { memberAccess } from '../dashboard/forge-access.ts';
import { addDashboard, createDashboardContext } from '../dashboard/routes.tsx';
import type { Database } from '../store/database.ts';
import { organizations } from '../store/schema/organizations.ts';
import { addRoute } from './add-route.ts';
import { addAdminRoutes } from './admin/routes.ts';
import { addAgentJobRoutes } from './agent/routes.ts';
import { notFound, platformErrorHandler } from './error-handler.ts';
import { addForgeRoutes } from './forge/routes.ts';
import { addMetrics } from './metrics.ts';
import { addObjectLinkRoutes } from './object-links.ts';
import { addOpenApiRoutes } from './openapi/routes.ts';
import type { ApiContext, PlatformApiDeps } from './platform-api-deps.ts';
import { addPreviewRoutes } from './static-export/previews.ts';
import { addStaticExportRoutes } from './static-export/routes.ts';

/**
 * The Admin API as an Express app, independent of its port. Throws a `RangeError` if links must live longer than the
 * object store can sign.
 */
export function createPlatformApi(deps: PlatformApiDeps): Express {
  const { maxLinkTtlMs } = deps.objects;
  if (maxLinkTtlMs !== null && deps.bundleLinkTtlMs > maxLinkTtlMs) {
    throw new RangeError(
      `BUNDLE_LINK_TTL is too long: this object store signs links of at most ${formatDurationMs(maxLinkTtlMs)}`,
    );
  }
  const context = contextOf(deps);
  const app = express();
  app.disable('x-powered-by').disable('etag').enable('strict routing').enable('case sensitive routing');
  app.set('query parser', 'simple').set('trust proxy', deps.trustedProxies ?? []);
  app.use(requestLog(deps.logger));
  app.use((_request, response, next) => {
    response.set({ 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' });
    next();
  });
  addMetrics(app, context.db, deps.metrics);
  addHealthRoutes(app, context.db);
  addAgentJobRoutes(app, context);
  addStaticExportRoutes(app, context);
  addObjectLinkRoutes(app, context.objects);
  addPreviewRoutes(app, context);
  addRoute(app, `${ASSETS_PATH}/:file`, { get: [serveAssets(), notFound] });
  const { operatorToken, openId, sitesPage, stopped, wait } = deps;
  const dashboard = operatorToken
    ? createDashboardContext({ context, operatorToken, openId, sitesPage, stopped, wait })
    : undefined;
  const forMembers = dashboard === undefined ? context : { ...context, ...memberAccess(dashboard) };
  addForgeRoutes(app, forMembers);
  if (operatorToken) addAdminRoutes(app, { ...context, operatorToken });
  // Before the documentation, to which `/` leads without a dashboard.
  if (dashboard) addDashboard(app, dashboard);
  addOpenApiRoutes(app, forMembers);
  app.use(notFound);
  app.use(platformErrorHandler(deps.logger));
  return app;
}

function contextOf({ now = Date.now, ...deps }: PlatformApiDeps): ApiContext {
  const { publicUrl: given } = deps;
  const publicUrl = typeof given === 'string' ? () => given : given;
  return {
    ...deps,
    publicUrl,
    bundlesUrl: deps.bundlesUrl ?? publicUrl,
    now: () => new Date(now()),
  };
}

/** A probe that hangs is worse than one that fails. */
const PROBE_TIMEOUT_MS = 2_000;

/** `/healthz`: the process responds. `/readyz`: the database responds too and is migrated. */
function addHealthRoutes(app: Express, db: Database): void {
  addRoute(app, '/healthz', {
    get: (_request, response) => {
      response.json({ status: 'ok' });
    },
  });
  addRoute(app, '/readyz', {
    get: async (_request, response) => {
      const asked = db.select({ one: sql`1` }).from(organizations).limit(1);
      const answered = await Promise.race([
        asked.then(
          () => true,
          () => false,
        ),
        sleep(PROBE_TIMEOUT_MS, false, { ref: false }),
      ]);
      if (!answered) throw new HttpError(503, 'The database is away', retryAfter(5));
      response.json({ status: 'ready' });
    },
  });
}

/** Probes and polling clients read every few seconds, so only their failures are logged. */
const READING = new Set(['GET', 'HEAD']);

/**
 * Gives every request an id (the client's `X-Request-Id` if usable) and logs its result, without the query (which may
 * hold a link's signature), headers, bodies, and ids that open what they name: pull requests' and previews'.
 */
function requestLog(logger: Logger): RequestHandler {
  return (request, response, next) => {
    const requestId = setRequestId(request, response);
    const { method, path } = request;
    const startedAt = performance.now();
    response.once('close', () => {
      const durationMs = Math.round(performance.now() - startedAt);
      const status = response.writableFinished ? response.statusCode : null;
      const level = READING.has(method) && status !== null && status < 400 ? 'debug' : 'info';
      logger[level](
        {
          requestId,
          method,
          path: path.replace(/^\/(pulls|previews)\/[^/]+/, '/$1/…').slice(0, 300),
          status,
          durationMs,
        },
        'Request',
      );
    });
    next();
  };
}
