import { count, eq, inArray } from 'drizzle-orm';
import type { Database } from './database.ts';
import { ACTIVE_STATUSES } from './export-jobs.ts';
import { agentJobs } from './schema/agent-jobs.ts';
import { exportJobs } from './schema/export-jobs.ts';

/** How many jobs haven't ended, by kind and status. Partial indexes cover both queries. */
export async function countActiveJobs(db: Database): Promise<{ kind: string; status: string; jobs: number }[]> {
  const [exports, agents] = await Promise.all([
    db
      .select({ status: exportJobs.status, jobs: count() })
      .from(exportJobs)
      .where(inArray(exportJobs.status, [...ACTIVE_STATUSES]))
      .groupBy(exportJobs.status),
    db.select({ jobs: count() }).from(agentJobs).where(eq(agentJobs.status, 'active')),
  ]);
  const ofExports = ACTIVE_STATUSES.map((status) => {
    const found = exports.find((each) => each.status === status);
    return { kind: 'export', status, jobs: found?.jobs ?? 0 };
  });
  return [...ofExports, { kind: 'agent', status: 'active', jobs: agents[0]?.jobs ?? 0 }];
}
