import type { Logger } from 'pino';
import { type ExportReport, exportReport } from '../../contract/admin-api.ts';
import type { Site } from '../../exporter/document/types.ts';
import { createExportDeps, type ExportDeps } from '../../exporter/export-deps.ts';
import { ExportFailure } from '../../exporter/export-failure.ts';
import { exportSite, SINGLE_PROCESS_LIMITS } from '../../exporter/export-site.ts';
import type { ExportLimits } from '../../exporter/limits.ts';
import { createLocalStageRunner } from '../../exporter/local-stage-runner.ts';
import { reportKey } from '../../exporter/object-keys.ts';
import { storeFailedReport } from '../../exporter/pack/failed-report.ts';
import type { PackedExport } from '../../exporter/pack/pack-export.ts';
import type { CrawlStore, ObjectStore } from '../../exporter/ports.ts';
import type { ExportSettings } from '../../exporter/settings.ts';
import { CommandError } from '../command-error.ts';
import { checkOrigin } from './check-origin.ts';
import type { ProgressBar } from './progress-bar.ts';

export interface ExportTask {
  settings: Omit<ExportSettings, 'robotsTxt'>;
  limits: Partial<ExportLimits>;
  store: CrawlStore;
  objects: ObjectStore;
  logger: Logger;
  bar: ProgressBar;
  /** Aborting it ends the export with the signal's reason. */
  signal: AbortSignal;
}

export interface Exported extends PackedExport {
  jobId: string;
  report: ExportReport;
}

/** Thrown if the site can't be exported; the report says what was met until then. */
export class ExportFailed extends CommandError {
  readonly report: ExportReport | undefined;

  constructor(reason: string, report: ExportReport | undefined) {
    super(`The export failed: ${reason}`);
    this.report = report;
  }
}

/**
 * Exports a site into the object store, in this process.
 * @throws ExportFailed if the site can't be exported, CommandError if its origin doesn't answer
 */
export async function runExport(task: ExportTask): Promise<Exported> {
  const { settings, signal, bar } = task;
  const { jobId, site } = settings;
  const shown = { stage: 'starting', progress: 0, pageCount: 0 };
  const show = (change: Partial<typeof shown>): void => {
    const { stage = shown.stage, progress = 0, pageCount = 0 } = change;
    shown.stage = stage;
    shown.progress = Math.max(shown.progress, progress);
    shown.pageCount = Math.max(shown.pageCount, pageCount);
    bar.update({ status: shown.stage, progress: shown.progress, pageCount: shown.pageCount });
  };
  const deps = createExportDeps({
    ...task,
    limits: { ...task.limits, ...SINGLE_PROCESS_LIMITS },
    runStage: createLocalStageRunner({ signal, onProgress: show }),
  });
  try {
    await checkStartPage(deps, task);
    const request = { projectId: site.domain, settings, incremental: false };
    const packed = await exportSite(deps, request, { signal, onStage: (stage) => show({ stage }) });
    show({ stage: 'completed', progress: 100, pageCount: packed.pageCount });
    return { ...packed, jobId, report: await readReport(task.objects, jobId) };
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof ExportFailure)) throw error;
    const hasReport = (await storeFailedReport(deps, jobId)) !== null;
    throw new ExportFailed(
      asRequested(error.message, site),
      hasReport ? await readReport(task.objects, jobId) : undefined,
    );
  } finally {
    bar.stop();
  }
}

async function checkStartPage(deps: ExportDeps, { settings, signal }: ExportTask): Promise<void> {
  const fetcher = deps.fetcherFor(settings);
  try {
    await checkOrigin(fetcher, settings.site, { isGiven: settings.operatorHosts.length > 0, signal });
  } finally {
    void fetcher.close();
  }
}

async function readReport(objects: ObjectStore, jobId: string): Promise<ExportReport> {
  return exportReport.parse(JSON.parse(String(await objects.read(reportKey(jobId)))));
}

/** A message with the URLs that were requested instead of the site's public ones. */
function asRequested(text: string, { domain, origin }: Site): string {
  return text.replaceAll(`https://${domain}/`, `${origin}/`);
}
