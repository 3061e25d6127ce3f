import type { CallAdminApi } from './call-admin-api.ts';
import { field } from './response-fields.ts';

/** Number of recent jobs searched for a pinned version. An older pin keeps the link it has. */
const LIMIT = 100;

/**
 * Finds the completed job of a version in the service's list of jobs. Null if the service has no list or the version
 * isn't among the newest hundred.
 */
export function createFindExport(call: CallAdminApi) {
  return async function findExport(input: { domain: string; version: string }): Promise<string | null> {
    const query = new URLSearchParams({ domain: input.domain, status: 'completed', limit: String(LIMIT) });
    const { verdict, response } = await call('list', { method: 'GET', path: `/v1/static-export/jobs?${query}` });
    const jobs = verdict === 'success' ? field(response, 'jobs') : undefined;
    if (!Array.isArray(jobs)) return null;
    const items: readonly unknown[] = jobs;
    const found = items.find((job) => read(job, 'version') === input.version && read(job, 'status') === 'completed');
    const jobId = read(found, 'jobId');
    return typeof jobId === 'string' ? jobId : null;
  };
}

function read(item: unknown, name: string): unknown {
  return typeof item === 'object' && item !== null ? Reflect.get(item, name) : undefined;
}
