import express, { type Express } from 'express';
import { formatDurationMs } from '../../contract/duration.ts';
import { ASSETS_PATH } from '../../ui/assets.ts';
import { serveAssets } from '../../web/serve-assets.ts';
import { memberAccess } from '../dashboard/forge-access.ts';
import { addDashboard, createDashboardContext } from '../dashboard/routes.tsx';
import { addRoute } from './add-route.ts';
import { addAdminRoutes } from './admin/routes.ts';
import { addAgentJobRoutes } from './agent/routes.ts';
import { notFound, platformErrorHandler } from './error-handler.ts';
import { addForgeRoutes } from './forge/routes.ts';
import { addHealthRoutes } from './health-routes.ts';
import { addMetrics } from './metrics.ts';
import { addObjectLinkRoutes } from './object-links.ts';
import { addOpenApiRoutes } from './openapi/routes.ts';
import type { ApiContext, PlatformApiDeps } from './platform-api-deps.ts';
import { requestLog } from './request-log.ts';
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
  const { operatorToken, openId, stopped, wait } = deps;
  const dashboard = operatorToken
    ? createDashboardContext({ context, operatorToken, openId, stopped, wait })
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
  const { publicUrl } = deps;
  return {
    ...deps,
    publicUrl: typeof publicUrl === 'string' ? () => publicUrl : publicUrl,
    now: () => new Date(now()),
  };
}
