import type { SiteError, SitePhase, SiteState } from '../../contract/site-state.ts';
import { firstToExpire } from './live-job.ts';
import type { SiteMemory } from './site-memory.ts';

/** Where a site stands, in one word. What is going on now comes before what is wrong, that before what is served. */
export function phaseOf(memory: SiteMemory): SitePhase {
  const { exporting, pending, backOff, paused, live, targets } = memory;
  const failed = backOff?.waiting === true;
  if (exporting !== null && !failed) {
    return exporting.stage === 'bundling' || exporting.stage === 'deploying' ? exporting.stage : 'exporting';
  }
  if (paused) return 'paused';
  if (memory.unconfigured !== null) return 'unconfigured';
  if (failed && (exporting !== null || pending !== null)) return 'failed';
  if (pending !== null) return 'debouncing';
  if (targets.length > 0 && targets.every((target) => target.error !== null)) return 'failed';
  if (targets.length > 0 && targets.every((target) => target.off)) return 'off';
  if (targets.some((target) => target.held)) return 'held';
  return live === null ? 'idle' : 'live';
}

/** What is wrong and was seen last: of the configuration, the export, the refreshing of links, or a deployment. */
export function lastErrorOf({ unconfigured, exportError, refreshError, targets }: SiteMemory): SiteError | null {
  const errors = [unconfigured, exportError, refreshError].filter((error) => error !== null);
  const failed = targets.find((target) => target.error !== null);
  if (failed?.error && failed.failedAt) {
    errors.push({ message: `${failed.valuesFile}: ${failed.error}`, status: null, at: failed.failedAt });
  }
  return errors.toSorted((a, b) => b.at.localeCompare(a.at))[0] ?? null;
}

/** The version that the deployments serve: with every one held at a pin, that isn't the newest. */
function servedVersion({ live, targets }: SiteMemory): string | null {
  const [first] = targets;
  if (first !== undefined && targets.every((target) => target.held)) return first.version;
  return live?.version ?? null;
}

/** The newest version, while a rollback keeps it from being served. */
export function withheldVersion({ live, newest }: SiteMemory): SiteState['withheld'] {
  if (live?.rolledBack !== true || newest === null || newest.jobId === live.jobId) return null;
  return { version: newest.version, exportedAt: newest.exportedAt };
}

/** The answer of the query `state`. `nextRefreshAtMs` may be infinite. */
export function siteStateOf(site: string, memory: SiteMemory, nextRefreshAtMs: number): SiteState {
  const { exporting, live, trouble } = memory;
  return {
    site,
    phase: phaseOf(memory),
    jobId: exporting?.jobId ?? live?.jobId ?? null,
    version: servedVersion(memory),
    linkExpiresAt: firstToExpire(memory)?.expiresAt ?? null,
    exportedAt: live?.exportedAt ?? null,
    withheld: withheldVersion(memory),
    nextRefreshAt: live && Number.isFinite(nextRefreshAtMs) ? new Date(nextRefreshAtMs).toISOString() : null,
    lastError: lastErrorOf(memory),
    deployments: memory.targets.map(({ valuesFile, jobId, version, updatedAt, held, pin, off, error }) => {
      return { valuesFile, jobId, version, updatedAt, held, pin, off, error };
    }),
    pendingCount: memory.pending?.count ?? 0,
    deliveries: memory.deliveries,
    trouble: trouble && { since: new Date(trouble.sinceMs).toISOString(), mails: trouble.mails },
    progress: null,
  };
}
