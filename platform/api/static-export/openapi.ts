import { z } from 'zod';
import {
  bundle,
  exportCancellation,
  exportChanges,
  exportJob,
  exportJobId,
  exportJobPage,
  exportPreview,
  exportReport,
  projectExportJob,
  startExportRequest,
  startProjectExportRequest,
} from '../../../contract/admin-api.ts';
import { idempotencyParameter } from '../openapi/idempotency-parameter.ts';
import { parametersOf, refTo } from '../openapi/json-schemas.ts';
import { type Operation, rateLimitHeaders, refusals, requestId, success } from '../openapi/operations.ts';
import { LIMIT_PARAMETER } from '../paging.ts';
import { listExportsQuery } from './read-exports.ts';

/** Schemas of the static export endpoints, by their names in the document. */
export const STATIC_EXPORT_SCHEMAS = {
  StartExportRequest: startExportRequest,
  StartProjectExportRequest: startProjectExportRequest,
  ExportJob: exportJob,
  ProjectExportJob: projectExportJob,
  ExportJobPage: exportJobPage,
  ExportCancellation: exportCancellation,
  Bundle: bundle,
  ExportPreview: exportPreview,
  ExportReport: exportReport,
  ExportChanges: exportChanges,
};

type SchemaName = keyof typeof STATIC_EXPORT_SCHEMAS;

const ok = (description: string, schema: SchemaName) => ({ 200: success(description, schema) });

const operation = (each: Operation) => ({ ...each, tags: ['Static export'] });

const jobPath = parametersOf('path', z.object({ jobId: exportJobId.meta({ description: 'The job.' }) }));
const projectPath = parametersOf('path', z.object({ projectId: z.string().meta({ description: 'The project.' }) }));
const projectJobPath = [...projectPath, ...jobPath];

/** Links to the next operations on a job that was just started. */
const NEXT = Object.fromEntries(
  ['getExport', 'cancelExport', 'generateBundle', 'createPreview', 'getExportReport', 'getExportChanges'].map(
    (operationId) => [operationId, { operationId, parameters: { jobId: '$response.body#/jobId' } }],
  ),
);

const startExport = operation({
  operationId: 'startExport',
  summary: 'Start a static export job',
  description:
    'One export of a domain at a time, 60 starts per organization and hour. After a 202 the job always runs. ' +
    'A `version` that a completed export of the domain has is 409; without one the job gets the next free.',
  parameters: idempotencyParameter(
    'The same key and body within 30 days get the first success again and start no second job.',
  ),
  requestBody: {
    required: true,
    content: {
      'application/json': { schema: refTo('StartExportRequest'), example: { domain: 'docs.customer.example' } },
    },
  },
  responses: {
    202: success('The job is queued.', 'ExportJob', { headers: rateLimitHeaders({ required: false }), links: NEXT }),
    ...refusals(400, 401, 403, 404, 409, 413, 415, 422, 429),
  },
});

const listExports = operation({
  operationId: 'listExports',
  summary: 'List static export jobs, newest first',
  description:
    "The organization's, or those of the key's project. `nextCursor` is the `cursor` of the next page, null on the last.",
  parameters: parametersOf('query', listExportsQuery, { limit: LIMIT_PARAMETER }),
  responses: { ...ok('A page of jobs.', 'ExportJobPage'), ...refusals(400, 401, 403) },
});

const getExport = operation({
  operationId: 'getExport',
  summary: 'Get a static export job',
  description: '`progress` and `pageCount` never decrease. A completed job has a bundle, a report and changes.',
  parameters: jobPath,
  responses: { ...ok('The job as it is now.', 'ExportJob'), ...refusals(401, 403, 404) },
});

const cancelExport = operation({
  operationId: 'cancelExport',
  summary: 'Cancel a static export job',
  description: 'A canceled job fails with the error `cancelled`, a running one once its work has stopped.',
  parameters: jobPath,
  responses: { ...ok('Accepted, or finished before.', 'ExportCancellation'), ...refusals(401, 403, 404) },
});

const generateBundle = operation({
  operationId: 'generateBundle',
  summary: "Get a fresh link to a completed job's bundle",
  description:
    'Only the link expires: each call signs another one to the same bytes. 409 while the job is not completed.',
  parameters: jobPath,
  responses: { ...ok('The link.', 'Bundle'), ...refusals(401, 403, 404, 409, 410) },
});

const createPreview = operation({
  operationId: 'createPreview',
  summary: "Serve a completed job's export under an unguessable URL for a day",
  description:
    'Whoever has the URL sees the whole export, without signing in. Pages are not indexed, set no cookies, and their ' +
    'scripts run in a sandbox. Each call makes another URL. 409 while the job is not completed.',
  parameters: jobPath,
  responses: { 201: success('The URL.', 'ExportPreview'), ...refusals(401, 403, 404, 409, 410) },
});

const getExportReport = operation({
  operationId: 'getExportReport',
  summary: "Get a completed or failed job's broken links, redirects and skipped pages",
  description: 'For a failed or canceled job: what it found until then. 409 while the job is queued or running.',
  parameters: jobPath,
  responses: { ...ok('The report.', 'ExportReport'), ...refusals(401, 403, 404, 409, 410) },
});

const getExportChanges = operation({
  operationId: 'getExportChanges',
  summary: 'Get what a completed job changed since the export before',
  description:
    "Compares with the project's last completed export of the same pages that is still stored: files added, changed and removed, by their " +
    'paths in the bundle, and links that have broken since. `since` is null for the first export.',
  parameters: jobPath,
  responses: { ...ok('The changes.', 'ExportChanges'), ...refusals(401, 403, 404, 409, 410) },
});

/** The published 429 of this form has only the headers that every response has. */
const limited = {
  429: {
    description: 'The organization has started 10 exports within the hour.',
    headers: requestId,
    content: { 'application/json': { schema: refTo('Error') } },
  },
};

const startProjectExport = operation({
  operationId: 'startProjectExport',
  summary: "Start a static export job of a project's site",
  description:
    'The same jobs as in the other form. One export of a project at a time: 409, without its id. An organization that ' +
    'has started 10 exports within the hour gets 429, without `Retry-After`. `basePath` is where the site will be ' +
    'mounted below its domain: canonical, sitemap and redirect URLs get it, files stay at the root of the archive.',
  parameters: [
    ...projectPath,
    ...idempotencyParameter(
      'The same key and body within 30 days get the first success again and start no second job.',
    ),
  ],
  requestBody: {
    required: false,
    content: {
      'application/json': { schema: refTo('StartProjectExportRequest'), example: { basePath: '/docs' } },
    },
  },
  responses: {
    202: success('The job is queued.', 'ProjectExportJob'),
    ...refusals(400, 401, 403, 404, 409, 413, 415, 422),
    ...limited,
  },
});

const getProjectExport = operation({
  operationId: 'getProjectExport',
  summary: 'Get a static export job, with a fresh link once it is completed',
  description: 'Each read of a completed job signs another link to the same bytes; only the link expires.',
  parameters: projectJobPath,
  responses: { ...ok('The job as it is now.', 'ProjectExportJob'), ...refusals(401, 403, 404) },
});

/** The static export endpoints of the contract. */
export const STATIC_EXPORT_PATHS = {
  '/v1/static-export/jobs': { post: startExport, get: listExports },
  '/v1/static-export/jobs/{jobId}': { get: getExport },
  '/v1/static-export/jobs/{jobId}/cancel': { post: cancelExport },
  '/v1/static-export/jobs/{jobId}/bundle': { post: generateBundle },
  '/v1/static-export/jobs/{jobId}/preview': { post: createPreview },
  '/v1/static-export/jobs/{jobId}/report': { get: getExportReport },
  '/v1/static-export/jobs/{jobId}/changes': { get: getExportChanges },
  '/v1/static-export/{projectId}/jobs': { post: startProjectExport },
  '/v1/static-export/{projectId}/jobs/{jobId}': { get: getProjectExport },
};
