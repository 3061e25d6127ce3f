import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { domainName } from '../../contract/admin-api.ts';
import { CommandError, UsageError } from '../command-error.ts';
import { createContext } from '../context.ts';
import { createLifetime, untilSignal } from '../lifetime.ts';
import { checkTarget } from './check-target.ts';
import { exportToFile } from './export-to-file.ts';
import { openPlatform, type Wanted } from './open-platform.ts';
import { createProgressBar } from './progress-bar.ts';

/** What a service that doesn't answer may take to be told of a cancelled export. */
const CANCEL_TIMEOUT_MS = 3_000;

interface Options {
  out: string;
  origin?: string;
}

/** The command `export`: from the domain to the file, whatever ends it. */
export async function exportOnce(given: string, { out, origin }: Options): Promise<void> {
  const domain = domainName.safeParse(given);
  if (!domain.success) throw new UsageError(`${given}: expected a domain name such as docs.example.com`);
  const file = resolve(out);
  await checkTarget(file);
  const context = createContext({ quiet: true });
  const lifetime = createLifetime(context.logger);
  const folder = await mkdtemp(join(tmpdir(), 'galley-export-'));
  lifetime.onStop('temporary folder', () => rm(folder, { recursive: true, force: true }));
  const cancelled = untilSignal().then(() => {
    throw new CommandError('The export was cancelled');
  });
  const work = run({ domain: domain.data, origin }, file, { context, lifetime, folder });
  try {
    await Promise.race([work, cancelled, lifetime.failed]);
  } finally {
    const stopped = lifetime.stop();
    // Cut off, it still asks the service to cancel the job.
    await Promise.race([work.catch(() => undefined), sleep(CANCEL_TIMEOUT_MS)]);
    await stopped;
  }
}

type Surroundings = Parameters<typeof openPlatform>[1];

async function run(wanted: Wanted, file: string, surroundings: Surroundings): Promise<void> {
  const { signal } = surroundings.lifetime;
  const api = await openPlatform(wanted, surroundings);
  const bar = createProgressBar(wanted.domain);
  const { jobId, pageCount, sizeBytes } = await exportToFile(api, { domain: wanted.domain, file, bar, signal });
  process.stdout.write(`${file}: ${pageCount ?? 'unknown'} pages, ${sizeBytes} bytes, job ${jobId}\n`);
}
