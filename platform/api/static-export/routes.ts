import type { Express, RequestHandler } from 'express';
import { type ProjectExportJob, projectExportJob, startProjectExportRequest } from '../../../contract/admin-api.ts';
import { HttpError } from '../../../web/http-error.ts';
import { parseInput } from '../../parse-input.ts';
import type { Caller } from '../../store/api-keys.ts';
import type { ExportJobRow } from '../../store/export-jobs.ts';
import { addRoute } from '../add-route.ts';
import { findOwnProject } from '../agent/agent-job-view.ts';
import { authenticate, forCaller } from '../authenticate.ts';
import { readIdempotencyKey } from '../idempotency.ts';
import { readJsonBody } from '../json-body.ts';
import type { ApiContext } from '../platform-api-deps.ts';
import type { Limit } from '../sliding-window.ts';
import { cancelExport } from './cancel-export.ts';
import { readExportChanges } from './export-changes.ts';
import { exportJobView, findExport } from './export-job-view.ts';
import { createBundleLink, readLinkedReport } from './export-results.ts';
import { createPreview } from './previews.ts';
import { listExports, listExportsQuery } from './read-exports.ts';
import { startExport, startExportHandler } from './start-export.ts';

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

/** Static export in form `project`: the same jobs by project, with fewer fields and a lower limit. */

/** Per organization, over the starts of both forms. */
const PROJECT_START_LIMIT: Limit = { uses: 10, windowMs: 3_600_000 };

/** `POST /v1/static-export/{projectId}/jobs`. Checks in the order of the other form. */
function startProjectExportHandler(context: ApiContext): RequestHandler {
  return async (request, response) => {
    const caller = await authenticate(context.db, request);
    const project = await findOwnProject(context.db, caller, request.params.projectId);
    const body = parseInput(startProjectExportRequest, await readJsonBody(request, response, { without: {} }));
    const idempotency = readIdempotencyKey(request, body);
    const start = { project, body, idempotency, limit: PROJECT_START_LIMIT };
    const answer = await startExport(context, caller, start).catch(rethrowAsPublished);
    response.status(answer.status).json(projectExportJob.parse(answer.body));
  };
}

/** The published API names no active job, and has no `Retry-After`. */
function rethrowAsPublished(error: unknown): never {
  if (error instanceof HttpError && error.status === 409) {
    throw new HttpError(409, 'An export of the project is active: one at a time');
  }
  if (error instanceof HttpError && error.status === 429) {
    throw new HttpError(429, `The organization has started ${PROJECT_START_LIMIT.uses} exports within the hour`);
  }
  throw error;
}

/** A job with a fresh link if it has a bundle. Throws 403, and 404 also for a job of another project. */
async function readProjectExport(
  context: ApiContext,
  caller: Caller,
  { projectId, jobId }: { projectId?: unknown; jobId?: unknown },
): Promise<ProjectExportJob> {
  const job = await findExport(context.db, caller, jobId, projectId);
  const isStored = job.status === 'completed' && job.expiredAt === null;
  return projectExportJob.parse({ ...exportJobView(job), ...(isStored && (await createBundleLink(context, job))) });
}
