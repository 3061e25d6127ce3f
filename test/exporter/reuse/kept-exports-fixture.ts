import { sweepExports } from '../../../platform/retention/sweep-exports.ts';
import { type DirectRig, startDirectRig } from '../../helpers/direct-export.ts';
import type { ExportedBundle } from '../../helpers/export-rig.ts';

export type KeptExportsFixture = DirectRig & {
  /** Exports the current state of the site with a new project. */
  full(paths?: string[]): Promise<ExportedBundle>;
  /** The objects below `exports/` that belong to any of these jobs. */
  workKeys(...jobIds: string[]): Promise<string[]>;
  /** The jobs of a project whose crawls still exist. */
  crawlsOf(projectId: string): Promise<string[]>;
  /** Sweeps all exports that have ended. */
  sweep(): Promise<void>;
};

/** Exports one origin and shows what completed exports keep. */
export async function startKeptExportsFixture(originUrl: () => string): Promise<KeptExportsFixture> {
  const rig = await startDirectRig();
  return {
    ...rig,
    full: async (paths) => rig.run(await rig.addProject(originUrl()), paths && { paths }),
    workKeys: async (...jobIds) => (await Promise.all(jobIds.map((jobId) => rig.keys(`exports/${jobId}/`)))).flat(),
    async crawlsOf(projectId) {
      const { rows } = await rig.db.execute<{ id: string }>(
        `select c.job_id as id from crawls c join export_jobs j on j.id = c.job_id where j.project_id = '${projectId}'`,
      );
      return rows.map(({ id }) => id);
    },
    async sweep() {
      const at = new Date(Date.now() + 3_600_000);
      const { signal } = new AbortController();
      await sweepExports({ ...rig, exportKeep: undefined, at, dryRun: false, signal });
    },
  };
}
