import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { domainName, type ExportReport } from '../../contract/admin-api.ts';
import { createMemoryCrawlStore } from '../../exporter/store/memory-crawl-store.ts';
import { createSpill } from '../../exporter/store/spill.ts';
import { exportSettings } from '../../platform/activities/export/export-settings.ts';
import { siteOrigin } from '../../platform/admin/project-requests.ts';
import { createFileStore } from '../../platform/objects/file-store.ts';
import { projectSettings } from '../../platform/project-settings.ts';
import { newId } from '../../platform/store/ids.ts';
import { CommandError, UsageError } from '../command-error.ts';
import { type Context, createContext } from '../context.ts';
import { keepHeapSmall } from '../heap-growth.ts';
import { untilSignal } from '../lifetime.ts';
import { exportSummary, exportSummaryJson, type FailOn, failureOf } from './export-summary.ts';
import { checkFile, checkOutput, copyTo, type Output, unpackTo } from './output.ts';
import { createProgressBar } from './progress-bar.ts';
import { ExportFailed, runExport } from './run-export.ts';

export interface ExportOptions {
  out: string;
  origin?: string;
  report?: string;
  failOn?: readonly FailOn[];
  json?: boolean;
}

/** Runs the command `export`. */
export async function exportOnce(given: string, options: ExportOptions): Promise<void> {
  const site = readSite(given, options.origin);
  const output = await checkOutput(resolve(options.out));
  const reportFile = options.report === undefined ? undefined : resolve(options.report);
  if (reportFile !== undefined) await checkFile('--report', reportFile);
  keepHeapSmall();
  const context = createContext({ quiet: true });
  const stop = new AbortController();
  void untilSignal().then(() => stop.abort(new CommandError('The export was canceled')));
  const folder = await mkdtemp(join(tmpdir(), 'galley-export-'));
  try {
    await run(site, { ...options, output, reportFile }, { context, folder, signal: stop.signal });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

interface SiteAddress {
  domain: string;
  origin: string | null;
}

function readSite(given: string, origin: string | undefined): SiteAddress {
  const domain = domainName.safeParse(given);
  if (!domain.success) throw new UsageError(`${given}: expected a domain name such as docs.example.com`);
  if (origin === undefined) return { domain: domain.data, origin: null };
  const parsed = siteOrigin.safeParse(origin);
  if (!parsed.success) throw new UsageError(`--origin: ${parsed.error.issues[0]?.message}`);
  return { domain: domain.data, origin: parsed.data };
}

interface Results extends Pick<ExportOptions, 'failOn' | 'json'> {
  output: Output;
  reportFile: string | undefined;
}

interface Deps {
  context: Context;
  /** An empty folder that is deleted afterwards. */
  folder: string;
  signal: AbortSignal;
}

async function run({ domain, origin }: SiteAddress, results: Results, deps: Deps): Promise<void> {
  const { output, reportFile, failOn = [] } = results;
  const { context, folder, signal } = deps;
  const objects = join(folder, 'objects');
  const createdAt = new Date();
  const version = `${createdAt.toISOString().slice(0, 10)}.1`;
  const job = { id: newId.exportJob(), version, createdAt, domain, paths: null };
  const spill = createSpill(join(folder, 'rows'));
  try {
    const exported = await runExport({
      settings: exportSettings(job, { origin, settings: projectSettings.parse({}) }),
      limits: context.settings.exportLimits,
      store: createMemoryCrawlStore({ spill }),
      objects: await createFileStore({ folder: objects, now: Date.now }),
      logger: context.logger,
      bar: createProgressBar(domain),
      signal,
    });
    const archive = join(objects, exported.archiveKey);
    if (output.kind === 'folder') await unpackTo(output.path, archive, signal);
    else await copyTo(output.path, archive);
    if (reportFile !== undefined) await writeReport(reportFile, exported.report);
    const ended = { ...exported, out: output.path, reportFile };
    process.stdout.write(results.json ? exportSummaryJson(ended) : exportSummary(ended));
    const failure = failureOf(exported.report, failOn);
    if (failure !== undefined) throw new CommandError(failure);
  } catch (error) {
    if (error instanceof ExportFailed && error.report !== undefined && reportFile !== undefined)
      await writeReport(reportFile, error.report);
    throw error;
  } finally {
    spill.close();
  }
}

async function writeReport(file: string, report: ExportReport): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, `${JSON.stringify(report, null, 2)}\n`);
}
