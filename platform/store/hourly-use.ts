import { and, eq, gt, sql } from 'drizzle-orm';
import type { Executor } from './database.ts';
import { agentJobs, agentRuns } from './schema/agent-jobs.ts';
import { exportJobs } from './schema/export-jobs.ts';

/** Hours ago (0: the last hour) to a count. */
export type HourlyUse = ReadonlyMap<number, number>;

type Since = { organizationId: string; at: Date; hours: number };

const HOUR_MS = 3_600_000;

/** The started exports of each of the last hours. */
export async function countExportsByHour(db: Executor, { organizationId, at, hours }: Since): Promise<HourlyUse> {
  const ago = sql<number>`floor(extract(epoch from (${at}::timestamptz - ${exportJobs.createdAt})) / 3600)::int`;
  const rows = await db
    .select({ ago, uses: sql<number>`count(*)::int` })
    .from(exportJobs)
    .where(
      and(
        eq(exportJobs.organizationId, organizationId),
        gt(exportJobs.createdAt, new Date(at.getTime() - hours * HOUR_MS)),
      ),
    )
    .groupBy(sql`1`);
  return new Map(rows.map((row) => [row.ago, row.uses]));
}

/** The prompts of each of the last hours: those of the project that sent most, because the limit is per project. */
export async function countPromptsByHour(db: Executor, { organizationId, at, hours }: Since): Promise<HourlyUse> {
  const ago = sql<number>`floor(extract(epoch from (${at}::timestamptz - ${agentRuns.createdAt})) / 3600)::int`;
  const rows = await db
    .select({ ago, uses: sql<number>`count(*)::int` })
    .from(agentRuns)
    .innerJoin(agentJobs, eq(agentJobs.id, agentRuns.jobId))
    .where(
      and(
        eq(agentJobs.organizationId, organizationId),
        gt(agentRuns.createdAt, new Date(at.getTime() - hours * HOUR_MS)),
      ),
    )
    .groupBy(sql`1`, agentJobs.projectId);
  const most = new Map<number, number>();
  for (const row of rows) most.set(row.ago, Math.max(most.get(row.ago) ?? 0, row.uses));
  return most;
}
