import { createHash } from 'node:crypto';
import { chmod, open, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { z } from 'zod';
import { errorText } from '../../base/error-code.ts';
import { programName } from '../cache-folder.ts';
import type { Report } from '../run-tool.ts';
import { runTool } from '../run-tool.ts';

/**
 * The download service of Temporal's SDKs for their ephemeral servers. Used directly, because the SDK shows no
 * progress, has no timeout and stores the program in the system's temporary folder.
 */
const SERVICE = 'https://temporal.download';

/** The SDK release whose servers are downloaded. */
const SDK_VERSION = '1.24.0';

/** Short, so that a machine that can't reach this host tries the next way soon. */
const RESPONSE_TIMEOUT_MS = 8_000;

/** A download that is silent for this long is aborted. */
const STALL_TIMEOUT_MS = 20_000;

/** Node's processor names to the service's. */
const ARCHITECTURES: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' };

const downloadInfo = z.object({ archiveUrl: z.url(), fileToExtract: z.string().min(1) });

interface Download {
  artifact: 'cli' | 'temporal-test-server';
  /** An empty folder to work in. */
  folder: string;
  report: Report;
}

/** Downloads and unpacks one of Temporal's servers; resolves with the program's path under `folder`. */
export async function downloadServer({ artifact, folder, report }: Download): Promise<string> {
  const info = await askService(artifact);
  const archive = join(folder, basename(new URL(info.archiveUrl).pathname));
  await fetchToFile(info.archiveUrl, archive, report);
  // tar of Linux, macOS and Windows 10 reads the service's format on each (tar.gz, zip on Windows).
  await runTool({ command: 'tar', args: ['-xf', archive, '-C', folder], timeoutMs: 120_000, report });
  await rm(archive);
  const program = join(folder, ...info.fileToExtract.split('/'));
  await chmod(program, 0o755);
  return program;
}

async function askService(artifact: Download['artifact']): Promise<z.infer<typeof downloadInfo>> {
  const arch = ARCHITECTURES[process.arch];
  if (arch === undefined) throw new Error(`no download for this processor (${process.arch})`);
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const url = new URL(`${SERVICE}/${artifact}/default`);
  url.search = new URLSearchParams({
    arch,
    platform,
    'sdk-name': 'sdk-typescript',
    'sdk-version': SDK_VERSION,
  }).toString();
  const response = await fetch(url, { signal: AbortSignal.timeout(RESPONSE_TIMEOUT_MS) }).catch((error: unknown) => {
    throw new Error(`${url.host} can't be reached: ${reason(error)}`);
  });
  if (!response.ok) throw new Error(`${url.host} answered ${response.status}`);
  return downloadInfo.parse(await response.json());
}

async function fetchToFile(url: string, path: string, report: Report): Promise<void> {
  const stall = new AbortController();
  let timer = setTimeout(() => stall.abort(), STALL_TIMEOUT_MS);
  const response = await fetch(url, { signal: stall.signal });
  if (!response.ok || !response.body) throw new Error(`${url} answered ${response.status}`);
  const totalBytes = Number(response.headers.get('content-length')) || undefined;
  const file = await open(path, 'wx');
  const hash = createHash('sha256');
  let receivedBytes = 0;
  let reportedTenths = 0;
  try {
    for await (const chunk of response.body) {
      clearTimeout(timer);
      timer = setTimeout(() => stall.abort(), STALL_TIMEOUT_MS);
      await file.write(chunk);
      hash.update(chunk);
      receivedBytes += chunk.byteLength;
      const tenths = totalBytes === undefined ? 0 : Math.floor((receivedBytes / totalBytes) * 10);
      if (tenths > reportedTenths) report(`  … ${tenths * 10} % of ${Math.round((totalBytes ?? 0) / 1e6)} MB`);
      reportedTenths = tenths;
    }
  } finally {
    clearTimeout(timer);
    await file.close();
  }
  report(`  downloaded ${programName(basename(path))}, sha256 ${hash.digest('hex')}`);
}

/** Node's fetch only says "fetch failed"; the reason is its cause. */
function reason(error: unknown): string {
  return error instanceof Error && error.cause !== undefined ? errorText(error.cause) : errorText(error);
}
