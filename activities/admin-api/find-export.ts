import type { CallAdminApi } from './call-admin-api.ts';

/** Number of recent jobs searched for a pinned version. An older pin keeps the link it has. */
const LIMIT = 100;

/**
 * Finds the completed job of a version in the service's list of jobs. Null if the service has no list or the version
 * isn't among the newest hundred.
 */
export function createFindExport(call: CallAdminApi) {
  return async function findExport(input: { domain: string; version: string }): Promise<string | null> {
    const filter = { domain: input.domain, status: 'completed', limit: LIMIT } as const;
    const outcome = await call('list', ({ exports }, options) => exports.list(filter, options).page());
    if (outcome.verdict !== 'success') return null;
    const found = outcome.result.jobs.find(
      ({ version, status }) => version === input.version && status === 'completed',
    );
    return found?.jobId ?? null;
  };
}
