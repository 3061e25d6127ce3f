import type { Request, Router } from 'express';
import { encodePath } from '../../../bundle/url.ts';
import { exportJobStatus, startExportRequest } from '../../../contract/admin-api.ts';
import { Text } from '../../../ui/components/text.tsx';
import { HttpError } from '../../../web/http-error.ts';
import { renderBounded } from '../../../web/render-bounded.ts';
import { fieldOf, queryOf } from '../../../web/request.ts';
import { sendCompressed } from '../../../web/send-compressed.ts';
import { PAGE_HEADERS } from '../../../web/send-page.ts';
import { addRoute } from '../../api/add-route.ts';
import { cancelExport } from '../../api/static-export/cancel-export.ts';
import { readExportChanges } from '../../api/static-export/export-changes.ts';
import { findExport, findOwnJob } from '../../api/static-export/export-job-view.ts';
import {
  createBundleLink,
  type ProofForm,
  proofPath,
  readLinkedReport,
  readProof,
} from '../../api/static-export/export-results.ts';
import { createPreview } from '../../api/static-export/previews.ts';
import { listExports, listExportsQuery } from '../../api/static-export/read-exports.ts';
import { startExport } from '../../api/static-export/start-export.ts';
import { parseInput } from '../../parse-input.ts';
import type { Caller } from '../../store/api-keys.ts';
import { findActor } from '../../store/audit-log.ts';
import { getCrawl } from '../../store/crawls.ts';
import { type ExportJobRow, requestedPaths } from '../../store/export-jobs.ts';
import { findProjectByDomain, listOrganizationProjects } from '../../store/projects.ts';
import { type SignedMember, signedOf } from '../access.ts';
import type { DashboardContext } from '../dashboard-context.ts';
import { messagesOf, withMessage } from '../done-messages.ts';
import { ConfirmPage, PATHS, pathOf } from '../layout.tsx';
import { addLivePart, streamPart } from '../live.ts';
import { addAction, addConfirmed, addPage, EVERYONE, MAKERS } from '../pages.tsx';
import { ChangedPage, type ExportFacts, ExportList, ExportPage, ExportParts, ExportsPage } from './export-pages.tsx';
import { readVersions } from './read-versions.ts';

/** The pages of static exports. */
export function addExportRoutes(router: Router, context: DashboardContext): void {
  addList(router, context);
  addOne(router, context);
  addActions(router, context);
  for (const form of ['html', 'json'] as const) addProof(router, context, form);
  addPage(router, {
    path: `${PATHS.exports}/:jobId/changed`,
    async show(request, signed) {
      const path = queryOf(request, 'path');
      const versions = await readVersions(context, signed.caller, { jobId: request.params.jobId, path });
      return <ChangedPage signed={signed} jobId={String(request.params.jobId)} path={path} {...versions} />;
    },
  });
}

function addList(router: Router, context: DashboardContext): void {
  const read = async (request: Request, { caller }: SignedMember) => {
    const [domain, status, cursor] = [
      queryOf(request, 'domain'),
      queryOf(request, 'status'),
      queryOf(request, 'cursor'),
    ];
    const filled = Object.entries({ domain, status, cursor }).filter(([, value]) => value.trim() !== '');
    const asked = Object.fromEntries(filled.map(([name, value]) => [name, value.trim()]));
    const list = await listExports(context, caller, parseInput(listExportsQuery, asked));
    return { list, query: { domain, status }, cursor, now: context.now() };
  };
  addPage(router, {
    path: PATHS.exports,
    async show(request, signed) {
      const projects = await listOrganizationProjects(context.db, signed.caller.organizationId);
      const shown = await read(request, signed);
      return <ExportsPage signed={signed} messages={messagesOf(request)} projects={projects} shown={shown} />;
    },
    actors: MAKERS,
    async act(request, { caller }) {
      const version = fieldOf(request, 'version').trim();
      const asked = { domain: fieldOf(request, 'domain'), ...(version !== '' && { version }) };
      return await start(context, caller, asked);
    },
  });
  addLivePart(router, context, {
    path: `${PATHS.exports}/events`,
    show: async (request, signed) => <ExportList {...(await read(request, signed))} />,
  });
}

/** Starts an export; returns the path of its page. */
async function start(context: DashboardContext, caller: Caller, asked: object): Promise<string> {
  const body = parseInput(startExportRequest, asked);
  const { organizationId } = caller;
  const project = await findProjectByDomain(context.db, { organizationId, domain: body.domain });
  if (project === undefined) throw new HttpError(404, `domain: no project of the organization has ${body.domain}`);
  const answer = await startExport(context, caller, { project, body, idempotency: undefined });
  return withMessage(pathOf('exports', answer.jobId), 'export-started');
}

/** Stays the same while a page is open, unlike the other facts. Null if that isn't recorded any more. */
async function readStarter({ db }: DashboardContext, { id, organizationId }: ExportJobRow) {
  return (await findActor(db, { organizationId, action: 'export.start', target: id })) ?? null;
}

/** Everything that an export's page shows. */
async function readFacts(
  context: DashboardContext,
  job: ExportJobRow,
  startedBy: ExportFacts['startedBy'],
): Promise<ExportFacts> {
  const isOver = exportJobStatus.extract(['completed', 'failed']).safeParse(job.status).success;
  const isDone = job.status === 'completed';
  const crawl = isOver ? undefined : await getCrawl(context.db, job.id);
  const whole = (error: unknown): null => {
    // The files of an old export may have been deleted: the page shows the rest.
    if (error instanceof HttpError || (error instanceof Error && error.name === 'ObjectMissingError')) return null;
    throw error;
  };
  const report = isOver ? await readLinkedReport(context, job).catch(whole) : null;
  return {
    ...{ job, report, startedBy },
    phase: crawl?.phase ?? null,
    urls: crawl === undefined ? null : { settled: crawl.settledCount, all: crawl.urlCount },
    changes: isDone ? await readExportChanges(context, job, report ?? undefined).catch(whole) : null,
    servedAt: isDone ? await servedAt(context, job) : [],
    bundle: isDone ? await createBundleLink(context, job).catch(whole) : null,
    now: context.now(),
  };
}

/** Empty if nothing here knows the deployments of the organization. */
async function servedAt({ sitesPage }: DashboardContext, { id, domain, organizationId }: ExportJobRow) {
  return organizationId === sitesPage?.organizationId() ? await sitesPage.servedAt(domain, id) : [];
}

function addOne(router: Router, context: DashboardContext): void {
  addPage(router, {
    path: `${PATHS.exports}/:jobId`,
    async show(request, signed) {
      const job = await findExport(context.db, signed.caller, request.params.jobId);
      const facts = await readFacts(context, job, await readStarter(context, job));
      return <ExportPage signed={signed} messages={messagesOf(request)} facts={facts} />;
    },
  });
  addRoute(router, `${PATHS.exports}/:jobId/events`, {
    get: async (request, response) => {
      const signed = signedOf(request);
      const { jobId } = request.params;
      const startedBy = await readStarter(context, await findOwnJob(context.db, signed.caller, jobId));
      streamPart(context, { request, response }, async () => {
        const facts = await readFacts(context, await findExport(context.db, signed.caller, jobId), startedBy);
        const isOver = facts.job.status === 'completed' || facts.job.status === 'failed';
        return { html: await renderBounded(<ExportParts signed={signed} facts={facts} />), isOver };
      });
    },
  });
}

/** The styles and pictures in it are its own, and it has no script. */
const PROOF_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'none'; sandbox";

function addProof(router: Router, { db, objects }: DashboardContext, form: ProofForm): void {
  addRoute(router, proofPath(':jobId', form), {
    get: async (request, response) => {
      const job = await findExport(db, signedOf(request).caller, request.params.jobId);
      const { proof, html } = await readProof(objects, job);
      response.set({ ...PAGE_HEADERS, 'Content-Security-Policy': PROOF_POLICY }).type(form);
      await sendCompressed(request, response, Buffer.from(form === 'html' ? html : JSON.stringify(proof, null, 2)));
    },
  });
}

function addActions(router: Router, context: DashboardContext): void {
  addConfirmed(router, `${PATHS.exports}/:jobId/cancel`, MAKERS, {
    async show(request, signed) {
      const { id, domain } = await findOwnJob(context.db, signed.caller, request.params.jobId);
      const asked = { question: 'Cancel this export?', confirmLabel: 'Cancel the export' };
      return (
        <ConfirmPage
          {...{ signed, section: 'exports', ...asked }}
          action={pathOf('exports', id, 'cancel')}
          cancelHref={pathOf('exports', id)}
        >
          <p>
            The export of <Text>{domain}</Text> ends without a bundle. What is served stays as it is.
          </p>
        </ConfirmPage>
      );
    },
    async act(request, { caller }) {
      const { result, job } = await cancelExport(context, caller, request.params.jobId);
      return withMessage(pathOf('exports', job.jobId), result === 'accepted' ? 'export-canceled' : 'export-ended');
    },
  });
  addAction(router, `${PATHS.exports}/:jobId/preview`, EVERYONE, async (request, { caller }) => {
    const job = await findExport(context.db, caller, request.params.jobId);
    const { previewUrl } = await createPreview(context, job);
    // At the host that the member uses, which may not be that of the public URL.
    return new URL(previewUrl).pathname + encodePath(fieldOf(request, 'path'));
  });
  addAction(router, `${PATHS.exports}/:jobId/again`, MAKERS, async (request, { caller }) => {
    const job = await findOwnJob(context.db, caller, request.params.jobId);
    const paths = requestedPaths(job);
    return await start(context, caller, { domain: job.domain, ...(paths !== null && { paths }) });
  });
}
