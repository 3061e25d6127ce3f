import type { Logger } from 'pino';
import { type ExportReport, exportReport } from '../../contract/admin-api.ts';
import type { BundleSigner } from '../../contract/signing.ts';
import { reportToStderr } from '../../embedded/run-tool.ts';
import type { PackedExport } from '../../exporter/assemble/pack-export.ts';
import { storeFailedReport } from '../../exporter/assemble/report.ts';
import { retryUntilResponse } from '../../exporter/crawl/retry-until-response.ts';
import { createExportDeps, type ExportDeps } from '../../exporter/export-deps.ts';
import { ExportFailure } from '../../exporter/export-failure.ts';
import { exportInProcess } from '../../exporter/export-site.ts';
import type { ExportLimits } from '../../exporter/limits.ts';
import { reportKey } from '../../exporter/object-keys.ts';
import type { ExportObjects, Fetcher, FetchFailure } from '../../exporter/ports.ts';
import type { ExportSettings } from '../../exporter/settings.ts';
import { createLocalStageRunner, type Progress } from '../../exporter/stage.ts';
import type { MemoryCrawl } from '../../exporter/store/memory-crawl.ts';
import { createMemoryCrawlStore } from '../../exporter/store/memory-crawl-store.ts';
import type { Spill } from '../../exporter/store/spill.ts';
import type { Site } from '../../exporter/urls/identity.ts';
import { originUrl } from '../../exporter/urls/identity.ts';
import { CommandError } from '../command-error.ts';
import { createProgressBar } from './progress-bar.ts';

interface ExportTask {
  settings: Omit<ExportSettings, 'robotsTxt'>;
  limits: Partial<ExportLimits>;
  objects: ExportObjects;
  spill: Spill;
  /** Whether a later export may reuse this one. */
  isKept: boolean;
  /** The export to reuse. */
  previous: MemoryCrawl | undefined;
  /** Signs the bundle; undefined: it is unsigned. */
  signer: BundleSigner | undefined;
  logger: Logger;
  /** Aborting it ends the export with the signal's reason. */
  signal: AbortSignal;
}

export interface Exported extends PackedExport {
  jobId: string;
  report: ExportReport;
  crawl: MemoryCrawl | undefined;
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
 * Exports a site into the object store, in this process, with a progress bar.
 * @throws ExportFailed if the site can't be exported, CommandError if its origin doesn't answer
 */
export async function runExport(task: ExportTask): Promise<Exported> {
  try {
    return await attemptExport(task);
  } catch (error) {
    const isInputGone = error instanceof ExportFailure && error.type === 'ExportInputGone';
    if (!isInputGone || task.previous === undefined) throw error;
    reportToStderr('What the last export stored is gone or damaged; this is a full export');
    return attemptExport({ ...task, previous: undefined });
  }
}

async function attemptExport(task: ExportTask): Promise<Exported> {
  const { settings, signal, spill, previous, isKept } = task;
  const { jobId, site } = settings;
  const shown = showProgress(site.domain);
  const store = createMemoryCrawlStore({ spill, previous: previous === undefined ? [] : [previous] });
  const runStage = createLocalStageRunner({ signal, onProgress: shown.reach });
  const deps = createExportDeps({ ...task, store, runStage });
  try {
    await checkStartPage(deps, task);
    const request = { projectId: site.domain, settings, incremental: isKept };
    const packed = await exportInProcess(deps, request, { signal, onStage: shown.begin });
    shown.begin('completed');
    shown.reach({ progress: 100, pageCount: packed.pageCount });
    return { ...packed, jobId, report: await readReport(task.objects, jobId), crawl: store.crawlOf(jobId) };
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof ExportFailure) || error.type === 'ExportInputGone') throw error;
    const hasReport = (await storeFailedReport(deps, jobId)) !== null;
    const report = hasReport ? await readReport(task.objects, jobId) : undefined;
    throw new ExportFailed(error.message, report);
  } finally {
    shown.stop();
  }
}

function showProgress(domain: string) {
  const bar = createProgressBar(domain);
  const shown = { status: 'starting', progress: 0, pageCount: 0 };
  return {
    begin(status: string): void {
      shown.status = status;
      bar.update(shown);
    },
    /** A figure below the last one changes nothing. */
    reach({ progress, pageCount }: Progress): void {
      shown.progress = Math.max(shown.progress, progress);
      shown.pageCount = Math.max(shown.pageCount, pageCount);
      bar.update(shown);
    },
    stop: () => bar.stop(),
  };
}

async function checkStartPage(deps: ExportDeps, { settings, signal }: ExportTask): Promise<void> {
  const fetcher = deps.fetcherFor(settings);
  try {
    await checkOrigin(fetcher, settings.site, { isGiven: settings.operatorHosts.length > 0, signal });
  } finally {
    void fetcher.close();
  }
}

async function readReport(objects: ExportObjects, jobId: string): Promise<ExportReport> {
  return exportReport.parse(JSON.parse(String(await objects.read(reportKey(jobId)))));
}

/** A broken connection is tried again; a response that doesn't come within a minute is not. */
const TRIES = { maxAttempts: 1, maxTries: 2 };

/**
 * Requests the start page before the crawl, which repeats requests for a minute if the origin is down.
 * @throws CommandError with the requested URL, the reason and what to do, if the origin can't be exported
 */
async function checkOrigin(
  fetcher: Fetcher,
  site: Site,
  { isGiven, signal }: { isGiven: boolean; signal: AbortSignal },
): Promise<void> {
  const url = `https://${site.domain}/`;
  const asked = await retryUntilResponse(fetcher, site, { ...TRIES, url, leavesSite: true, signal });
  // A start page that is temporarily unavailable is the crawl's to repeat.
  if (asked.kind !== 'failed' || (asked.failure.status !== null && asked.failure.soft)) return;
  const requested = originUrl(asked.url, site);
  // Its code is for the report.
  const reason = asked.failure.reason.replace(/ \([A-Z_]+\)$/, '');
  throw new CommandError(`${requested} can't be exported: ${reason}. ${adviceOf(asked.failure, isGiven)}`);
}

function adviceOf({ status }: FetchFailure, isOriginGiven: boolean): string {
  if (status === 401 || status === 403) {
    return 'The export has no login: name a server that needs none with --origin URL.';
  }
  if (status !== null) return 'The export begins at this page: --origin URL names the server that has it.';
  return isOriginGiven
    ? 'Check that the server runs, and the scheme, host and port of --origin.'
    : 'Check the domain, or name the server that has the site with --origin URL.';
}
