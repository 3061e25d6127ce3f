import express, { type ErrorRequestHandler, type Request, type RequestHandler, type Response } from 'express';
import type { Logger } from 'pino';
import { HttpError } from '../contract/http-error.ts';
import { isHashed } from './cache-control.ts';
import { sendMessagePage } from './message-page.ts';
import { createDeploymentMetrics } from './metrics.ts';
import { resolveRequest } from './resolve-request.ts';
import { sendSiteFile } from './send-file.ts';
import type { Site } from './site.ts';
import type { DeploymentStatus } from './status.ts';

type ServeDeps = {
  /** Whether the values file switched static export off. */
  isOff(): boolean;
  site(): Site | undefined;
  previous(): readonly Site[];
  status(): DeploymentStatus;
  logger: Logger;
};

const METHODS = 'GET, HEAD';

/** The web server of one deployment: the site at `/`, its status under `/-/`. */
export function createServeApp(deps: ServeDeps): express.Express {
  const app = express();
  app.disable('x-powered-by');
  const metrics = createDeploymentMetrics(deps.status);
  app.use(metrics.count, onlyReading, commonHeaders);
  app.use('/-', createStatusRouter(deps, metrics.expose));
  app.use(createSiteHandler(deps));
  app.use(createErrorHandler(deps.logger));
  return app;
}

const onlyReading: RequestHandler = (req, _res, next) => {
  if (req.method !== 'GET' && req.method !== 'HEAD') {
    throw new HttpError(405, `${req.method} is not possible here`, { Allow: METHODS });
  }
  next();
};

/** Only headers that can't change how an exported site works: framing, scripts and embedding are up to the site. */
const commonHeaders: RequestHandler = (_req, res, next) => {
  res.set({ 'X-Content-Type-Options': 'nosniff', 'Referrer-Policy': 'strict-origin-when-cross-origin' });
  next();
};

function createStatusRouter({ status, site, isOff }: ServeDeps, exposeMetrics: RequestHandler): express.Router {
  const router = express.Router();
  router.use((_req, res, next) => {
    res.set('Cache-Control', 'no-store');
    next();
  });
  router.get('/status', (_req, res) => {
    res.json(status());
  });
  router.get('/metrics', exposeMetrics);
  router.get('/healthz', (_req, res) => {
    res.json({ ok: true });
  });
  router.get('/readyz', (_req, res) => {
    if (isOff()) throw new HttpError(503, 'staticExport.enabled is false');
    if (site() === undefined) throw new HttpError(503, status().lastError?.message ?? 'no bundle is served yet');
    res.json({ ok: true });
  });
  router.use((req) => {
    throw new HttpError(404, `there is no ${req.baseUrl}${req.path}`);
  });
  return router;
}

function createSiteHandler({ site: currentSite, previous, isOff }: ServeDeps): RequestHandler {
  return (req, res) => {
    if (isOff()) {
      sendMessagePage(
        res,
        503,
        'This site is switched off',
        'Serving the static export is turned off for this deployment.',
      );
      return;
    }
    // Read once, so that a request sees one version even if another is swapped in.
    const site = currentSite();
    if (site === undefined) {
      res.set('Retry-After', '10');
      sendMessagePage(
        res,
        503,
        'This site is not published yet',
        'Its first version is still on the way. Please try again soon.',
      );
      return;
    }
    const found = resolveRequest(req.url, site);
    if (found.kind === 'file') {
      sendSiteFile(req, res, site, found.file);
    } else if (found.kind === 'redirect') {
      // `location` encodes what a header can't contain: a manifest's redirect may use any script.
      res.status(found.status).location(found.location).set('Cache-Control', 'no-cache').end();
    } else if (found.kind === 'malformed') {
      sendMessagePage(res, 400, 'This address is not valid', 'Please check how it is written.');
    } else {
      sendNotFound(req, res, site, previous());
    }
  };
}

/**
 * A page that was opened before a swap still requests the files of its own version. A file with its hash in the name
 * can safely come from an older version on the disk; pages never do.
 */
function sendNotFound(req: Request, res: Response, site: Site, previous: readonly Site[]): void {
  const path = req.path.slice(1);
  const isAsset = isHashed(path) && !path.endsWith('.html');
  const older = isAsset ? previous.find((each) => each.file(path)) : undefined;
  const olderFile = older?.file(path);
  const notFoundPage = site.file('404.html');
  if (older !== undefined && olderFile !== undefined) sendSiteFile(req, res, older, olderFile);
  else if (notFoundPage !== undefined) sendSiteFile(req, res, site, notFoundPage, 404);
  else sendMessagePage(res, 404, 'This page does not exist', 'It may have been moved or removed.');
}

function createErrorHandler(logger: Logger): ErrorRequestHandler {
  return (error: unknown, req, res, next) => {
    if (res.headersSent) {
      next(error);
      return;
    }
    const known = error instanceof HttpError ? error : new HttpError(500, 'unexpected fault');
    if (!(error instanceof HttpError)) logger.error({ err: error }, 'A request failed');
    res.status(known.status).set(known.headers);
    if (req.originalUrl.startsWith('/-/')) res.json({ error: known.message });
    else if (known.status === 405)
      sendMessagePage(res, 405, 'Method not allowed', 'Pages can only be requested with GET or HEAD.');
    else sendMessagePage(res, known.status, 'Something went wrong', 'Please try again later.');
  };
}
