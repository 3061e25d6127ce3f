import { rm, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { makeTemporaryFolder } from '../../base/temporary-folder.ts';
import type { AdminApiClient } from '../../client/admin-api-client.ts';
import { domainName, type ExportReport, siteOrigin } from '../../contract/admin-api.ts';
import { ConfigurationError } from '../../contract/configuration-error.ts';
import { DEFAULT_PROOF_PAGES } from '../../contract/proof.ts';
import { reportToStderr } from '../../embedded/run-tool.ts';
import { SINGLE_PROCESS_LIMITS } from '../../exporter/export-site.ts';
import { DEFAULT_LIMITS } from '../../exporter/limits.ts';
import { engineVersion } from '../../exporter/reuse/engine-version.ts';
import { reuseKeyOf } from '../../exporter/reuse/reuse-key.ts';
import type { MemoryCrawl } from '../../exporter/store/memory-crawl.ts';
import { createSpill, type Spill } from '../../exporter/store/spill.ts';
import { exportSettings } from '../../platform/activities/export/export-settings.ts';
import { createFileStore } from '../../platform/objects/file-store.ts';
import { projectSettings } from '../../platform/project-settings.ts';
import { newId } from '../../platform/store/ids.ts';
import { type Context, createContext } from '../../programs/process/context.ts';
import { keepHeapSmall } from '../../programs/process/heap-growth.ts';
import { untilSignal } from '../../programs/process/lifetime.ts';
import { makeFolder } from '../../programs/process/make-folder.ts';
import type { Settings } from '../../programs/settings/environment.ts';
import { CommandError, UsageError } from '../command-error.ts';
import { printJson } from '../output.ts';
import type { ExportState } from './export-state.ts';
import { exportSummary, exportSummaryJson, type FailOn, failureOf, type SavedExport } from './export-summary.ts';
import { checkFile, checkOutput, copyTo, type Output, unpackTo } from './output.ts';
import type { Prover } from './prove-export.ts';
import { type Exported, ExportFailed, runExport } from './run-export.ts';

export interface ExportOptions {
  out: string;
  origin?: string;
  report?: string;
  failOn?: readonly FailOn[];
  incremental?: string;
  search?: boolean;
  markdown?: boolean;
  /** Pages to compare with the origin in a browser; true: the default number. */
  prove?: number | true;
  json?: boolean;
}

/** Runs the command `export`. */
export async function exportOnce(given: string, options: ExportOptions): Promise<void> {
  const site = readSite(given, options.origin);
  const output = await checkOutput(resolve(options.out));
  const reportFile = options.report === undefined ? undefined : resolve(options.report);
  if (reportFile !== undefined) await checkFile('--report', reportFile);
  const stateFolder = options.incremental === undefined ? undefined : resolve(options.incremental);
  if (stateFolder !== undefined) {
    const { checkStateFolder } = await import('./export-state.ts');
    await checkStateFolder(stateFolder);
  }
  if (options.failOn?.includes('proof') && options.prove === undefined)
    throw new UsageError('--fail-on proof needs --prove');
  keepHeapSmall();
  const context = createContext({ quiet: true });
  const stop = new AbortController();
  void untilSignal().then(() => stop.abort(new CommandError('The export was canceled')));
  // Started before the export, which may take long. A signal that comes now is obeyed right after it.
  const prover = options.prove === undefined ? undefined : await openProver(options.prove, output, context);
  const folder = await makeTemporaryFolder('export');
  try {
    const results = { ...options, output, reportFile, stateFolder, prover };
    await run(site, results, { context, folder, signal: stop.signal });
  } finally {
    await prover?.close();
    await rm(folder, { recursive: true, force: true });
  }
}

async function openProver(prove: number | true, output: Output, { settings, logger }: Context): Promise<Prover> {
  const { createProver } = await import('./prove-export.ts');
  const maxPages = prove === true ? DEFAULT_PROOF_PAGES : prove;
  return await createProver({ maxPages, outputPath: output.path, browser: settings.browser, logger });
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

interface Results extends Pick<ExportOptions, 'failOn' | 'search' | 'markdown' | 'json'> {
  output: Output;
  reportFile: string | undefined;
  stateFolder: string | undefined;
  prover: Prover | undefined;
}

interface Deps {
  context: Context;
  /** An empty folder that is deleted afterwards. */
  folder: string;
  signal: AbortSignal;
}

async function run(site: SiteAddress, results: Results, deps: Deps): Promise<void> {
  const { output, reportFile, failOn = [] } = results;
  try {
    const service = await namedService(deps.context.settings, site, results);
    const exported =
      service === undefined
        ? await exportTo(output, site, { ...deps, ...results })
        : await exportToByService(output, site.domain, service, deps);
    if (reportFile !== undefined) {
      if (exported.report === undefined) throw new CommandError('--report: the service has no report of this export');
      await writeReport(reportFile, exported.report);
    }
    const proof = await results.prover?.prove({ ...site, output, ...deps });
    const ended = { ...exported, out: output.path, reportFile, proof };
    if (results.json) printJson(exportSummaryJson(ended));
    else process.stdout.write(exportSummary(ended));
    const failure = failureOf(exported.report, failOn, proof?.proof);
    if (failure !== undefined) throw new CommandError(failure);
  } catch (error) {
    if (error instanceof ExportFailed && error.report !== undefined && reportFile !== undefined)
      await writeReport(reportFile, error.report);
    throw error;
  }
}

/** The service in the variables; undefined if the export runs in this process. */
async function namedService(
  settings: Settings,
  { origin }: SiteAddress,
  { stateFolder, search, markdown }: Results,
): Promise<AdminApiClient | undefined> {
  const { adminApiUrl: url, adminApiKey: key } = settings;
  if (url === undefined) return undefined;
  if (key === undefined)
    throw new ConfigurationError(['ADMIN_API_KEY: expected the key of the service that ADMIN_API_URL names']);
  if (origin !== null)
    throw new UsageError(
      `--origin has no effect on ${url}: set the origin of its project there, with galley projects set --origin`,
    );
  if (stateFolder !== undefined)
    throw new UsageError(
      '--incremental needs an export in this process: unset ADMIN_API_URL. The service keeps its own state.',
    );
  const setting = (search && 'search pagefind') || (markdown && 'markdown on');
  if (setting)
    throw new UsageError(
      `--${setting.split(' ')[0]} has no effect on ${url}: set it in its project there, with galley projects set --${setting}`,
    );
  const { createAdminApiClient } = await import('../../client/admin-api-client.ts');
  return createAdminApiClient({ url, key });
}

async function exportToByService(
  output: Output,
  domain: string,
  service: AdminApiClient,
  { folder, signal }: Deps,
): Promise<Omit<SavedExport, 'out' | 'reportFile' | 'proof'>> {
  const file = output.kind === 'archive' ? output.path : join(folder, 'bundle.tar.gz');
  const { exportByService } = await import('./export-by-service.ts');
  const exported = await exportByService(service, { domain, file, signal });
  if (output.kind === 'folder') await unpackTo(output.path, file, signal);
  return { reusedFiles: null, ...exported };
}

/** Exports the site in this process and writes the bundle. */
async function exportTo(
  output: Output,
  { domain, origin }: SiteAddress,
  {
    context,
    folder,
    signal,
    stateFolder,
    search,
    markdown,
  }: Deps & Pick<Results, 'stateFolder' | 'search' | 'markdown'>,
): Promise<Exported> {
  const { logger, settings: variables } = context;
  const createdAt = new Date();
  const version = `${createdAt.toISOString().slice(0, 10)}.1`;
  const job = { id: newId.exportJob(), version, createdAt, domain, paths: null };
  const options = projectSettings.parse({ search: search ? 'pagefind' : 'off', markdown: markdown ? 'on' : 'keep' });
  const settings = exportSettings(job, { origin, settings: options });
  const limits = { ...DEFAULT_LIMITS, ...variables.exportLimits, ...SINGLE_PROCESS_LIMITS };
  const state = stateFolder === undefined ? undefined : await openState(stateFolder);
  const objectsFolder = state?.objectsFolder ?? join(folder, 'objects');
  const objects = state?.objects ?? (await createFileStore({ folder: objectsFolder, now: Date.now, isDurable: false }));
  const spill = createSpill(join(folder, 'rows'));
  try {
    const reuseKey = async () => reuseKeyOf(await engineVersion(logger), { ...settings, robotsTxt: '' }, limits);
    const previous = state && (await loadPrevious(state, await reuseKey(), spill));
    const task = {
      settings,
      limits,
      objects,
      spill,
      isKept: state !== undefined,
      previous,
      signer: variables.bundleSigner,
      logger,
      signal,
    };
    const exported = await runExport(task);
    const archive = join(objectsFolder, exported.archiveKey);
    if (output.kind === 'folder') await unpackTo(output.path, archive, signal);
    else await copyTo(output.path, archive);
    if (exported.crawl !== undefined) await state?.save(exported.crawl, spill);
    return exported;
  } catch (error) {
    await state?.forget(job.id);
    throw error;
  } finally {
    spill.close();
    await state?.close();
  }
}

async function openState(folder: string): Promise<ExportState> {
  const { openExportState } = await import('./export-state.ts');
  return openExportState(folder);
}

async function loadPrevious(state: ExportState, reuseKey: string, spill: Spill): Promise<MemoryCrawl | undefined> {
  const loaded = await state.load(reuseKey, spill);
  if (typeof loaded !== 'string') return loaded;
  if (loaded !== 'none') reportToStderr(`--incremental: ${WHY_FULL[loaded]}; this is a full export`);
  return undefined;
}

const WHY_FULL = {
  broken: 'the state of the last export is incomplete or damaged',
  other: 'the last export was made by another version of Galley or with other options',
} as const;

async function writeReport(file: string, report: ExportReport): Promise<void> {
  await makeFolder(dirname(file));
  await writeFile(file, `${JSON.stringify(report, null, 2)}\n`);
}
