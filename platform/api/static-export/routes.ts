import type { Express } from 'express';
import { methodNotAllowed } from '../error-handler.ts';
import type { ApiContext } from '../platform-api-deps.ts';
import { cancelExportHandler } from './cancel-export.ts';
import { changesHandler } from './export-changes.ts';
import { bundleHandler, reportHandler } from './export-results.ts';
import { getExportHandler, listExportsHandler } from './read-exports.ts';
import { startExportHandler } from './start-export.ts';

const JOBS = '/v1/static-export/jobs';

/** The static export endpoints of the contract. */
export function addStaticExportRoutes(app: Express, context: ApiContext): void {
  app
    .route(JOBS)
    .get(listExportsHandler(context))
    .post(startExportHandler(context))
    .all(methodNotAllowed(['GET', 'HEAD', 'POST']));
  app
    .route(`${JOBS}/:jobId`)
    .get(getExportHandler(context))
    .all(methodNotAllowed(['GET', 'HEAD']));
  app
    .route(`${JOBS}/:jobId/cancel`)
    .post(cancelExportHandler(context))
    .all(methodNotAllowed(['POST']));
  app
    .route(`${JOBS}/:jobId/bundle`)
    .post(bundleHandler(context))
    .all(methodNotAllowed(['POST']));
  app
    .route(`${JOBS}/:jobId/report`)
    .get(reportHandler(context))
    .all(methodNotAllowed(['GET', 'HEAD']));
  app
    .route(`${JOBS}/:jobId/changes`)
    .get(changesHandler(context))
    .all(methodNotAllowed(['GET', 'HEAD']));
}
