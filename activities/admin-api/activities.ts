import { randomUUID } from 'node:crypto';
import type { AdminApiClient } from '../../client/admin-api-client.ts';
import type { StaticExportForm } from '../../contract/admin-api.ts';
import { type CallAdminApi, createAdminApiCaller } from './call-admin-api.ts';
import { createCancelExport } from './cancel-export.ts';
import { createCreateBundle } from './create-bundle.ts';
import { createJudgeExport } from './judge-export.ts';
import { createPollExport, endTimeOf, shortVersion } from './poll-export.ts';
import { readOrGone } from './poll-job.ts';
import { createStartExport } from './start-export.ts';
import { absent, createStaticExport, type ExportPlace, type ExportRef, type StaticExport } from './static-export.ts';

/**
 * The static export part of the Admin API as activities, one HTTP call each (`createBundle` makes two for a bundle that
 * isn't ready; `createExportKey` makes none).
 * @param options.form the service's form of static export; `auto` finds out
 * @param options.quickAsksMs pauses between the first polls of a job; tests on skipped time want none.
 */
export function createAdminApiActivities(
  client: AdminApiClient,
  options: { quickAsksMs?: readonly number[]; form?: StaticExportForm | 'auto' } = {},
) {
  const call = createAdminApiCaller(createStaticExport(client, options.form ?? 'domain'));
  return {
    createExportKey,
    startExport: createStartExport(call),
    pollExport: createPollExport(call, options.quickAsksMs),
    createBundle: createCreateBundle(call),
    cancelExport: createCancelExport(call),
    findExport: createFindExport(call),
    readExport: createReadExport(call),
    judgeExport: createJudgeExport(call),
  };
}

/**
 * Makes the `Idempotency-Key` of one export attempt. A workflow can't make it: after a reset or a restored database it
 * repeats its ids and random numbers, and a repeated key would return the old job.
 */
async function createExportKey(): Promise<string> {
  return randomUUID();
}

/** Number of recent jobs searched for a pinned version. An older pin keeps the link it has. */
const LIMIT = 100;

/** The most versions that a message can name. */
const MAX_NAMED = 10;

type FoundExport = {
  jobId: string | null;
  /** If it isn't there, the newest versions that are. */
  versions: string[];
};

/**
 * Finds the completed job of a version in the service's list of jobs. There is none if the service has no list or the version
 * isn't among the newest hundred.
 */
function createFindExport(call: CallAdminApi<StaticExport>) {
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

/** A job's fields; null if the service doesn't give them. */
type ExportDescription = {
  status: string | null;
  domain: string | null;
  version: string | null;
  /** When the job was created and when it ended (RFC 3339). */
  createdAt: string | null;
  exportedAt: string | null;
};

/** Reads a job without waiting for its end. Throws `JobGone` if it is unknown. */
function createReadExport(call: CallAdminApi<StaticExport>) {
  return async function readExport(ref: ExportRef): Promise<ExportDescription> {
    const { job, response } = readOrGone(await call('read', (exports, options) => exports.get(ref, options)));
    return {
      status: job.status,
      domain: job.domain?.trim().toLowerCase() ?? null,
      version: shortVersion(job),
      createdAt: job.createdAt,
      exportedAt: endTimeOf(response),
    };
  };
}
