import type { RequestHandler } from 'express';
import { exportJob, type StartExportRequest, startExportRequest } from '../../../contract/admin-api.ts';
import { HttpError } from '../../../web/http-error.ts';
import { parseInput } from '../../parse-input.ts';
import { type Caller, isOwn } from '../../store/api-keys.ts';
import { recordAction } from '../../store/audit-log.ts';
import type { Transaction } from '../../store/database.ts';
import { findActiveExportJob, findExportOfVersion, insertExportJob } from '../../store/export-jobs.ts';
import { lockUntilCommit } from '../../store/locks.ts';
import { findProjectByDomain, getProject, type Project } from '../../store/projects.ts';
import { authenticate } from '../authenticate.ts';
import { type Answer, readIdempotencyKey, respondOnce } from '../idempotency.ts';
import { readJsonBody } from '../json-body.ts';
import type { ApiContext } from '../platform-api-deps.ts';
import { takeUse } from '../rate-limit.ts';
import type { Limit } from '../sliding-window.ts';
import { exportJobView, requireEnterprise } from './export-job-view.ts';

/** The limit per organization. */
export const START_LIMIT: Limit = { uses: 60, windowMs: 3_600_000 };

/**
 * `POST /v1/static-export/jobs`. Checks in the contract's order: key, project, body, idempotency, plan, conflict,
 * limit. Job, stored response and use are one transaction; once it commits the job will happen, even without Temporal.
 */
export function startExportHandler(context: ApiContext): RequestHandler {
  return async (request, response) => {
    const caller = await authenticate(context.db, request);
    const input = await readJsonBody(request, response);
    const project = await findNamedProject(context, caller, input);
    const body = parseInput(startExportRequest, input);
    if (project === undefined) throw new HttpError(404, `No project of the organization has the domain ${body.domain}`);
    const idempotency = readIdempotencyKey(request, body);
    const answer = await startExport(context, caller, { project, body, idempotency });
    response.status(answer.status).set(answer.headers).json(answer.body);
  };
}

type Start = {
  project: Project;
  body: Pick<StartExportRequest, 'version' | 'paths'> & { basePath?: string | undefined };
  idempotency: ReturnType<typeof readIdempotencyKey>;
  /** Of all starts of the organization, whatever their form. */
  limit?: Limit;
};

/** Starts an export of the caller's project. Throws 403, 409, 422 and 429. */
export async function startExport(
  context: ApiContext,
  caller: Caller,
  { project, body, idempotency, limit = START_LIMIT }: Start,
): Promise<Answer & { jobId: string; headers: Record<string, string> }> {
  const { organizationId } = caller;
  let started: string | undefined;
  let headers: Record<string, string> = {};
  const answer = await context.db.transaction(async (tx) => {
    // One lock against all races: the key's first use, the active job, the last free slot.
    await lockUntilCommit(tx, `static-export:${organizationId}`);
    // Read the clock after the lock, so that starts are counted in the order of their times.
    const at = context.now();
    return respondOnce(tx, { organizationId, idempotency, at }, async () => {
      requireEnterprise(caller);
      await refuseConflict(tx, project);
      if (body.version !== undefined) await refuseRepeatedVersion(tx, project, body.version);
      headers = await takeUse(tx, { scope: `static-export:${organizationId}`, limit, at });
      const answer = await createJob(tx, { project, body, at });
      await recordAction(tx, { ...caller, action: 'export.start', target: answer.jobId, detail: project.domain });
      started = answer.jobId;
      return answer;
    });
  });
  if (started !== undefined) startSoon(context, started, project.domain);
  const { jobId } = exportJob.pick({ jobId: true }).parse(answer.body);
  return { ...answer, jobId, headers };
}

/**
 * The project that the body names; undefined if it names no domain. Throws 404 for an unknown domain or another
 * organization's.
 */
async function findNamedProject({ db }: ApiContext, caller: Caller, input: unknown): Promise<Project | undefined> {
  const named = startExportRequest.pick({ domain: true }).loose().safeParse(input);
  if (!named.success) return undefined;
  const { domain } = named.data;
  const project = await findProjectByDomain(db, { organizationId: caller.organizationId, domain });
  if (project === undefined || !isOwn(caller, { organizationId: project.organizationId, projectId: project.id })) {
    throw new HttpError(404, `No project of the organization has the domain ${domain}`);
  }
  return project;
}

async function refuseConflict(tx: Transaction, project: Project): Promise<void> {
  const active = await findActiveExportJob(tx, project.id);
  if (active === undefined) return;
  throw new HttpError(409, `The export ${active.id} of ${project.domain} is ${active.status}: one at a time`);
}

/** A version identifies one bundle: a pin to it must never lead to other content. A failed export has none. */
async function refuseRepeatedVersion(tx: Transaction, { id, domain }: Project, version: string): Promise<void> {
  const taken = await findExportOfVersion(tx, { projectId: id, version });
  if (taken === undefined) return;
  throw new HttpError(
    409,
    `The version ${version} of ${domain} is the export ${taken.id}: expected a new version, or none to get the next free one`,
  );
}

async function createJob(
  tx: Transaction,
  { project, body, at }: Pick<Start, 'project' | 'body'> & { at: Date },
): Promise<Answer & { jobId: string }> {
  // Under the start lock, which a project's removal takes as well.
  if ((await getProject(tx, project.id)) === undefined)
    throw new HttpError(404, `The project ${project.id} was removed`);
  const row = await insertExportJob(tx, {
    organizationId: project.organizationId,
    projectId: project.id,
    domain: project.domain,
    version: body.version ?? null,
    paths: body.paths ?? null,
    basePath: body.basePath ?? null,
    at,
  });
  return { status: 202, body: exportJobView(row), jobId: row.id };
}

/** The caller doesn't wait: the job is in the database, and the reconciler starts it if this fails. */
function startSoon({ startExport, logger }: ApiContext, jobId: string, domain: string): void {
  startExport(jobId, domain).catch((error: unknown) => {
    logger.warn({ err: error, jobId }, 'The export could not be started now; the reconciler will');
  });
}
