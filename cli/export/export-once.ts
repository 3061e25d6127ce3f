import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { domainName } from '../../contract/admin-api.ts';
import { CommandError, UsageError } from '../command-error.ts';
import { createContext } from '../context.ts';
import { createLifetime, untilSignal } from '../lifetime.ts';
import { type AdminApi, readReport } from './admin-api-client.ts';
import { exportSummary, exportSummaryJson, type FailOn, failureOf } from './export-summary.ts';
import { ExportFailed, exportToFile } from './export-to-file.ts';
import { openPlatform, type PlatformOptions } from './open-platform.ts';
import { checkFile, checkOutput, type Output, unpackTo } from './output.ts';
import { createProgressBar } from './progress-bar.ts';

/** How long the command waits, after Ctrl-C, for the service to accept the cancellation. */
const CANCEL_TIMEOUT_MS = 3_000;

export interface ExportOptions {
  out: string;
  origin?: string;
  report?: string;
  failOn?: readonly FailOn[];
  json?: boolean;
}

/** Runs the command `export`. */
export async function exportOnce(given: string, options: ExportOptions): Promise<void> {
  const domain = domainName.safeParse(given);
  if (!domain.success) throw new UsageError(`${given}: expected a domain name such as docs.example.com`);
  const output = await checkOutput(resolve(options.out));
  const reportFile = options.report === undefined ? undefined : resolve(options.report);
  if (reportFile !== undefined) await checkFile('--report', reportFile);
  const context = createContext({ quiet: true });
  const lifetime = createLifetime(context.logger);
  const folder = await mkdtemp(join(tmpdir(), 'galley-export-'));
  lifetime.onStop('temporary folder', () => rm(folder, { recursive: true, force: true }));
  const cancelled = untilSignal().then(() => {
    throw new CommandError('The export was cancelled');
  });
  const site = { domain: domain.data, origin: options.origin };
  const work = run(site, { ...options, output, reportFile }, { context, lifetime, folder });
  try {
    await Promise.race([work, cancelled, lifetime.failed]);
  } finally {
    const stopped = lifetime.stop();
    // After Ctrl-C, the work still asks the service to cancel the job.
    await Promise.race([work.catch(() => undefined), sleep(CANCEL_TIMEOUT_MS)]);
    await stopped;
  }
}

type Deps = Parameters<typeof openPlatform>[1];

interface Results extends Pick<ExportOptions, 'failOn' | 'json'> {
  output: Output;
  reportFile: string | undefined;
}

async function run(site: PlatformOptions, results: Results, deps: Deps): Promise<void> {
  const { signal } = deps.lifetime;
  const { output, reportFile, failOn = [] } = results;
  const { domain } = site;
  const api = await openPlatform(site, deps);
  const bar = createProgressBar(domain);
  const archive = output.kind === 'archive' ? output.path : join(deps.folder, 'bundle.tar.gz');
  try {
    const exported = await exportToFile(api, { domain, file: archive, bar, signal });
    if (output.kind === 'folder') await unpackTo(output.path, archive, signal);
    const report = await obtainReport(api, exported.jobId, reportFile);
    const ended = { ...exported, out: output.path, report, reportFile };
    process.stdout.write(results.json ? exportSummaryJson(ended) : exportSummary(ended));
    const failure = failureOf(report, failOn);
    if (failure !== undefined) throw new CommandError(failure);
  } catch (error) {
    // The reason of the failed job matters more than a report that can't be read.
    if (error instanceof ExportFailed) await obtainReport(api, error.jobId, reportFile).catch(() => undefined);
    throw error;
  }
}

/** Reads the job's report and writes it to `file`. Without a file, a service needs no report: then undefined. */
async function obtainReport(api: AdminApi, jobId: string, file: string | undefined): Promise<unknown> {
  if (file === undefined) return readReport(api, jobId).catch(() => undefined);
  const report = await readReport(api, jobId);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, `${JSON.stringify(report, null, 2)}\n`);
  return report;
}
