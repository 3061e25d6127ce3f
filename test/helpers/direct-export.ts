import { randomBytes } from 'node:crypto';
import { MockActivityEnvironment } from '@temporalio/testing';
import type { ExportLimits } from '../../exporter/limits.ts';
import {
  createPlatformActivities,
  type PlatformActivities,
} from '../../platform/activities/create-platform-activities.ts';
import { type ExportedBundle, type ExportStores, openExportStores } from './export-stores.ts';
import { createDatabase } from './test-database.ts';

export type DirectRig = ExportStores & {
  /** Runs the stages of a job up to `until`, in this process. If one throws, the job fails, as in the workflow. */
  runStages(jobId: string, options?: StageOptions): Promise<void>;
  /** Runs a whole export of a project, including the cleanup. */
  run(projectId: string, options?: { paths?: string[]; limits?: Partial<ExportLimits> }): Promise<ExportedBundle>;
};

const STAGES = ['open', 'crawl', 'freeze', 'rewrite', 'pack', 'clean up'] as const;
export type Stage = (typeof STAGES)[number];

export type StageOptions = {
  until?: Stage;
  limits?: Partial<ExportLimits>;
  /** Wraps each stage, to measure or disturb it. */
  around?: (stage: Stage, work: () => Promise<unknown>) => Promise<unknown>;
};

/** Exports by calling the activities directly, in the workflow's order but without Temporal. */
export async function startDirectRig(
  limits: Partial<ExportLimits> = {},
  given: { objects?: string } = {},
): Promise<DirectRig> {
  const stores = await openExportStores(await createDatabase(), given);

  async function runStages(
    jobId: string,
    { until = 'clean up', limits: own = {}, around = (_stage, work) => work() }: StageOptions = {},
  ): Promise<void> {
    const activities = createPlatformActivities({ ...stores, limits: { ...limits, ...own } });
    let archiveKey: string | null = null;
    const stages: Record<Stage, () => Promise<unknown>> = {
      open: () => activities.openExport({ jobId }),
      crawl: () => untilDone(() => activities.crawlSite({ jobId, maxMs: 60_000 })),
      freeze: () => activities.freezeExport({ jobId }),
      rewrite: () => untilDone(() => activities.rewriteFiles({ jobId })),
      pack: async () => {
        archiveKey = (await activities.packExport({ jobId })).archiveKey;
      },
      'clean up': () => activities.cleanUpExport({ jobId, archiveKey }),
    };
    try {
      for (const stage of STAGES.slice(0, STAGES.indexOf(until) + 1))
        await around(stage, () => inActivity(stages[stage]));
    } catch (error) {
      await fail(activities, jobId, error);
    }
  }

  async function fail(activities: PlatformActivities, jobId: string, error: unknown): Promise<void> {
    await inActivity(() => activities.failExport({ jobId, error: String(error) }));
    await inActivity(() => activities.cleanUpExport({ jobId, archiveKey: null }));
  }

  return {
    ...stores,
    runStages,
    async run(projectId, { paths, ...options } = {}) {
      const jobId = await stores.addJob(projectId, paths);
      await runStages(jobId, options);
      return stores.read(jobId);
    },
  };
}

function inActivity(work: () => Promise<unknown>): Promise<unknown> {
  return new MockActivityEnvironment({
    workflowExecution: { workflowId: 'w', runId: randomBytes(6).toString('hex') },
  }).run(work);
}

async function untilDone(round: () => Promise<{ done: boolean }>): Promise<void> {
  while (!(await round()).done);
}
