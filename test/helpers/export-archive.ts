import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import type { ExportReport } from '../../contract/admin-api.ts';
import type { BundleManifest } from '../../contract/bundle.ts';
import { createExportDeps } from '../../exporter/export-deps.ts';
import { exportInProcess, SINGLE_PROCESS_LIMITS } from '../../exporter/export-site.ts';
import type { ExportLimits } from '../../exporter/limits.ts';
import { reportKey } from '../../exporter/object-keys.ts';
import type { IndexerOptions } from '../../exporter/search/start-indexer.ts';
import { createLocalStageRunner } from '../../exporter/stage.ts';
import { createMemoryCrawlStore } from '../../exporter/store/memory-crawl-store.ts';
import { createSpill } from '../../exporter/store/spill.ts';
import { exportSettings } from '../../platform/activities/export/export-settings.ts';
import { createFileStore } from '../../platform/objects/file-store.ts';
import { type ProjectSettings, projectSettings } from '../../platform/project-settings.ts';
import { readBundleArchive } from './read-bundle.ts';

export type ExportedArchive = {
  archive: Buffer;
  manifest: BundleManifest;
  files: Map<string, string>;
  report: ExportReport;
};

/** Exports the site at an origin as docs.example.com, in this process. Rejects with the reason if that fails. */
export async function exportArchive(
  origin: string,
  { basePath, ...limits }: Partial<ExportLimits> & { basePath?: string } = {},
  { settings = {}, indexer }: { settings?: Partial<ProjectSettings>; indexer?: IndexerOptions } = {},
): Promise<ExportedArchive> {
  const folder = await mkdtemp(join(tmpdir(), 'galley-export-'));
  const spill = createSpill(join(folder, 'rows'));
  try {
    const objects = await createFileStore({ folder: join(folder, 'objects'), now: Date.now, isDurable: false });
    const { signal } = new AbortController();
    const deps = createExportDeps({
      store: createMemoryCrawlStore({ spill }),
      objects,
      logger: pino({ level: 'silent' }),
      runStage: createLocalStageRunner({ signal, onProgress: () => {} }),
      limits: { ...SINGLE_PROCESS_LIMITS, ...limits },
      indexer,
    });
    const id = `se_${randomBytes(8).toString('hex')}`;
    const job = { id, version: '1', createdAt: new Date(), domain: 'docs.example.com', paths: null };
    const request = {
      projectId: 'prj',
      settings: exportSettings(job, { origin, settings: projectSettings.parse({ basePath, ...settings }) }),
      incremental: false,
    };
    const { archiveKey } = await exportInProcess(deps, request, { signal });
    const archive = await objects.read(archiveKey);
    const report = JSON.parse(String(await objects.read(reportKey(id))));
    return { archive, ...(await readBundleArchive(archive)), report };
  } finally {
    spill.close();
    await rm(folder, { recursive: true, force: true });
  }
}
