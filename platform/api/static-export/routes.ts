import type { Express } from 'express';
import { parseInput } from '../../parse-input.ts';
import type { ExportJobRow } from '../../store/export-jobs.ts';
import { addRoute } from '../add-route.ts';
import { authenticate, forCaller } from '../authenticate.ts';
import type { ApiContext } from '../platform-api-deps.ts';
import { cancelExport } from './cancel-export.ts';
import { readExportChanges } from './export-changes.ts';
import { exportJobView, findExport } from './export-job-view.ts';
import { createBundleLink, readLinkedReport } from './export-results.ts';
import { createPreview } from './previews.ts';
import { readProjectExport, startProjectExportHandler } from './project-form.ts';
import { listExports, listExportsQuery } from './read-exports.ts';
import { startExportHandler } from './start-export.ts';

const JOBS = '/v1/static-export/jobs';
const PROJECT_JOBS = '/v1/static-export/:projectId/jobs';

/** The static export endpoints of the contract, in both forms. */
export function addStaticExportRoutes(app: Express, context: ApiContext): void {
  const { db } = context;
  const ofJob = (answer: (job: ExportJobRow) => object | Promise<object>) =>
    forCaller(db, async (caller, { params }) => answer(await findExport(db, caller, params.jobId)));
  addRoute(app, JOBS, {
    get: forCaller(db, (caller, { query }) => listExports(context, caller, parseInput(listExportsQuery, query))),
    post: startExportHandler(context),
  });
  addRoute(app, `${JOBS}/:jobId`, { get: ofJob(exportJobView) });
  addRoute(app, `${JOBS}/:jobId/cancel`, {
    post: forCaller(db, (caller, { params }) => cancelExport(context, caller, params.jobId)),
  });
  addRoute(app, `${JOBS}/:jobId/bundle`, { post: ofJob((job) => createBundleLink(context, job)) });
  addRoute(app, `${JOBS}/:jobId/preview`, {
    post: async (request, response) => {
      const job = await findExport(db, await authenticate(db, request), request.params.jobId);
      response.status(201).json(await createPreview(context, job));
    },
  });
  addRoute(app, `${JOBS}/:jobId/report`, { get: ofJob((job) => readLinkedReport(context, job)) });
  addRoute(app, `${JOBS}/:jobId/changes`, { get: ofJob((job) => readExportChanges(context, job)) });
  addRoute(app, PROJECT_JOBS, { post: startProjectExportHandler(context) });
  addRoute(app, `${PROJECT_JOBS}/:jobId`, {
    get: forCaller(db, (caller, { params }) => readProjectExport(context, caller, params)),
  });
}
