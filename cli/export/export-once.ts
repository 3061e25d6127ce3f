import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { domainName } from '../../contract/admin-api.ts';
import { CommandError, UsageError } from '../command-error.ts';
import { createContext } from '../context.ts';
import { createLifetime, untilSignal } from '../lifetime.ts';
import { type AdminApi, readReport } from './admin-api-client.ts';
import { checkTarget } from './check-target.ts';
import { exportSummary } from './export-summary.ts';
import { ExportFailed, exportToFile } from './export-to-file.ts';
import { openPlatform, type PlatformOptions } from './open-platform.ts';
import { createProgressBar } from './progress-bar.ts';

/** How long to wait for the service when cancelling an export. */
const CANCEL_TIMEOUT_MS = 3_000;

interface Options {
  out: string;
  origin?: string;
  report?: string;
}

/** The command `export`, from the domain to the file. */
export async function exportOnce(given: string, { out, origin, report }: Options): Promise<void> {
  const domain = domainName.safeParse(given);
  if (!domain.success) throw new UsageError(`${given}: expected a domain name such as docs.example.com`);
  const files = { out: resolve(out), report: report === undefined ? undefined : resolve(report) };
  await checkTarget('--out', files.out);
  if (files.report !== undefined) await checkTarget('--report', files.report);
  const context = createContext({ quiet: true });
  const lifetime = createLifetime(context.logger);
  const folder = await mkdtemp(join(tmpdir(), 'galley-export-'));
  lifetime.onStop('temporary folder', () => rm(folder, { recursive: true, force: true }));
  const cancelled = untilSignal().then(() => {
    throw new CommandError('The export was cancelled');
  });
  const work = run({ domain: domain.data, origin }, files, { context, lifetime, folder });
  try {
    await Promise.race([work, cancelled, lifetime.failed]);
  } finally {
    const stopped = lifetime.stop();
    // If it is interrupted, it still asks the service to cancel the job.
    await Promise.race([work.catch(() => undefined), sleep(CANCEL_TIMEOUT_MS)]);
    await stopped;
  }
}

type Deps = Parameters<typeof openPlatform>[1];

interface Files {
  out: string;
  report: string | undefined;
}

async function run(options: PlatformOptions, files: Files, deps: Deps): Promise<void> {
  const { signal } = deps.lifetime;
  const api = await openPlatform(options, deps);
  const bar = createProgressBar(options.domain);
  try {
    const exported = await exportToFile(api, { domain: options.domain, file: files.out, bar, signal });
    const report = await obtainReport(api, exported.jobId, files.report);
    process.stdout.write(exportSummary({ ...exported, file: files.out, report, reportFile: files.report }));
  } catch (error) {
    // The job's error matters more than a missing report.
    if (error instanceof ExportFailed) await obtainReport(api, error.jobId, files.report).catch(() => undefined);
    throw error;
  }
}

/**
 * The job's report, which is also written to `file`. Without a file the report is optional: undefined if the service
 * has none.
 */
async function obtainReport(api: AdminApi, jobId: string, file: string | undefined): Promise<unknown> {
  if (file === undefined) return readReport(api, jobId).catch(() => undefined);
  const report = await readReport(api, jobId);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, `${JSON.stringify(report, null, 2)}\n`);
  return report;
}
