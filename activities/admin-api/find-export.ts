import type { CallAdminApi } from './call-admin-api.ts';
import { absent, type ExportPlace, type StaticExport } from './static-export.ts';

/** Number of recent jobs searched for a pinned version. An older pin keeps the link it has. */
const LIMIT = 100;

/** The most versions that a message can name. */
const MAX_NAMED = 10;

export type FoundExport = {
  jobId: string | null;
  /** If it isn't there, the newest versions that are. */
  versions: string[];
};

/**
 * Finds the completed job of a version in the service's list of jobs. There is none if the service has no list or the version
 * isn't among the newest hundred.
 */
export function createFindExport(call: CallAdminApi<StaticExport>) {
  return async function findExport(input: ExportPlace & { domain: string; version: string }): Promise<FoundExport> {
    const filter = { domain: input.domain, status: 'completed', limit: LIMIT } as const;
    const outcome = await call('list', async (exports, options) => {
      // Form `project` has no list.
      if ((await exports.form(input, options)) === 'project') throw absent('list');
      return await exports.list(filter, options).page();
    });
    if (outcome.verdict !== 'success') return { jobId: null, versions: [] };
    const completed = outcome.result.jobs.filter(({ status }) => status === 'completed');
    const found = completed.find(({ version }) => version === input.version);
    if (found !== undefined) return { jobId: found.jobId, versions: [] };
    const versions = completed.flatMap(({ version }) => version ?? []);
    return {
      jobId: null,
      versions: [...new Set(versions)].slice(0, MAX_NAMED).map((version) => version.slice(0, 200)),
    };
  };
}
