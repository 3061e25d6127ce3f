import { randomUUID } from 'node:crypto';
import type { AdminApiClient } from '../../client/admin-api-client.ts';
import type { StaticExportForm } from '../../contract/admin-api.ts';
import { createAdminApiCaller } from './call-admin-api.ts';
import { createCancelExport } from './cancel-export.ts';
import { createCreateBundle } from './create-bundle.ts';
import { createFindExport } from './find-export.ts';
import { createJudgeExport } from './judge-export.ts';
import { createPollExport } from './poll-export.ts';
import { createReadExport } from './read-export.ts';
import { createStartExport } from './start-export.ts';
import { createStaticExport } from './static-export.ts';

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
