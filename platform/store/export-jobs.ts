import { and, asc, desc, eq, gt, inArray, isNotNull, isNull, lt, or, type SQL, sql } from 'drizzle-orm';
import type { ExportJobStatus } from '../../contract/admin-api.ts';
import type { Executor, Transaction } from './database.ts';
import { newId } from './ids.ts';
import { exportJobs } from './schema/export-jobs.ts';

export type ExportJobRow = typeof exportJobs.$inferSelect;

export const ACTIVE_STATUSES = ['queued', 'running'] as const satisfies readonly ExportJobStatus[];

type NewExportJob = {
  organizationId: string;
  projectId: string;
  domain: string;
  /** The requested version; null: the next free `YYYY-MM-DD.N` of the project. */
  version: string | null;
  /** The requested pages; null: the whole site. */
  paths: string[] | null;
  /** Where it will be mounted below its domain; null: as the project says. */
  basePath?: string | null;
  at: Date;
};

/** Inserts a queued job. The caller holds the project's start lock, otherwise two jobs could get the same version. */
export async function insertExportJob(tx: Transaction, job: NewExportJob): Promise<ExportJobRow> {
  const version = job.version ?? (await nextVersion(tx, job.projectId, job.at));
  const [row] = await tx
    .insert(exportJobs)
    .values({
      id: newId.exportJob(),
      organizationId: job.organizationId,
      projectId: job.projectId,
      domain: job.domain,
      version,
      pathsJson: job.paths === null ? null : JSON.stringify(job.paths),
      basePath: job.basePath ?? null,
      createdAt: job.at,
      updatedAt: job.at,
    })
    .returning();
  if (row === undefined) throw new Error('The database returned no row for the new export job');
  return row;
}

/** Counts requested versions of this form too, of any number of digits, so that none is assigned twice. */
async function nextVersion(tx: Transaction, projectId: string, at: Date): Promise<string> {
  const day = at.toISOString().slice(0, 10);
  const [row] = await tx
    .select({ next: sql<string>`coalesce(max(substring(${exportJobs.version} from 12)::numeric), 0) + 1` })
    .from(exportJobs)
    .where(and(eq(exportJobs.projectId, projectId), sql`${exportJobs.version} ~ ${`^${day}\\.[0-9]+$`}`));
  return `${day}.${row?.next ?? 1}`;
}

/** The job of that id, for any owner. */
export async function getExportJob(db: Executor, jobId: string): Promise<ExportJobRow | undefined> {
  const [row] = await db.select().from(exportJobs).where(eq(exportJobs.id, jobId));
  return row;
}

/** Notes that a link to the job's archive is given out, unless the archive was given up. Returns the current row. */
export async function noteLinkRequest(db: Executor, job: ExportJobRow, at: Date): Promise<ExportJobRow> {
  const [row] = await db
    .update(exportJobs)
    .set({ linkRequestedAt: at })
    .where(and(eq(exportJobs.id, job.id), isNotNull(exportJobs.archiveKey)))
    .returning();
  return row ?? (await getExportJob(db, job.id)) ?? job;
}

/** The pages requested; null: the whole site. */
export function requestedPaths(job: Pick<ExportJobRow, 'pathsJson'>): string[] | null {
  return job.pathsJson === null ? null : JSON.parse(job.pathsJson);
}

/** The project's queued or running job; there is at most one. */
export async function findActiveExportJob(db: Executor, projectId: string): Promise<ExportJobRow | undefined> {
  const [row] = await db
    .select()
    .from(exportJobs)
    .where(and(eq(exportJobs.projectId, projectId), inArray(exportJobs.status, ACTIVE_STATUSES)));
  return row;
}

/** The project's newest completed job of a version. */
export function findExportOfVersion(
  db: Executor,
  { projectId, version }: { projectId: string; version: string },
): Promise<ExportJobRow | undefined> {
  return newestCompleted(db, projectId, eq(exportJobs.version, version));
}

/** The project's last completed job before this one, of the same pages, whose archive is still stored. */
export function findExportBefore(
  db: Executor,
  { projectId, pathsJson, sequence }: Pick<ExportJobRow, 'projectId' | 'pathsJson' | 'sequence'>,
): Promise<ExportJobRow | undefined> {
  const samePages = pathsJson === null ? isNull(exportJobs.pathsJson) : eq(exportJobs.pathsJson, pathsJson);
  return newestCompleted(
    db,
    projectId,
    and(lt(exportJobs.sequence, sequence), samePages, isNull(exportJobs.expiredAt)),
  );
}

async function newestCompleted(
  db: Executor,
  projectId: string,
  condition: SQL | undefined,
): Promise<ExportJobRow | undefined> {
  const [row] = await db
    .select()
    .from(exportJobs)
    .where(and(eq(exportJobs.projectId, projectId), eq(exportJobs.status, 'completed'), condition))
    .orderBy(desc(exportJobs.sequence))
    .limit(1);
  return row;
}

type ExportJobFilter = {
  organizationId: string;
  /** Undefined: those of all its projects. */
  projectId?: string | undefined;
  domain?: string | undefined;
  status?: ExportJobStatus | undefined;
  /** Selects only jobs older than the one of this sequence. */
  beforeSequence?: number | undefined;
  limit: number;
};

/** An organization's jobs, newest first. */
export async function listExportJobs(db: Executor, filter: ExportJobFilter): Promise<ExportJobRow[]> {
  return db
    .select()
    .from(exportJobs)
    .where(
      and(
        eq(exportJobs.organizationId, filter.organizationId),
        filter.projectId === undefined ? undefined : eq(exportJobs.projectId, filter.projectId),
        filter.domain === undefined ? undefined : eq(exportJobs.domain, filter.domain),
        filter.status === undefined ? undefined : eq(exportJobs.status, filter.status),
        filter.beforeSequence === undefined ? undefined : lt(exportJobs.sequence, filter.beforeSequence),
      ),
    )
    .orderBy(desc(exportJobs.sequence))
    .limit(filter.limit);
}

/**
 * Queued or running jobs unchanged since `untouchedSince`, or with a time after `latest` (from a wrong clock), in order
 * of creation, paged: the reconciler's work.
 */
export async function listUnsettledExportJobs(
  db: Executor,
  page: { untouchedSince: Date; latest: Date; afterSequence: number; limit: number },
): Promise<ExportJobRow[]> {
  return db
    .select()
    .from(exportJobs)
    .where(
      and(
        inArray(exportJobs.status, ACTIVE_STATUSES),
        or(lt(exportJobs.updatedAt, page.untouchedSince), gt(exportJobs.updatedAt, page.latest)),
        gt(exportJobs.sequence, page.afterSequence),
      ),
    )
    .orderBy(asc(exportJobs.sequence))
    .limit(page.limit);
}
