import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { z } from 'zod';
import { builtGalley } from '../../test/helpers/system/built-product.ts';
import type { ExportBench } from './bench.ts';
import { secondsText } from './figure.ts';
import { type Usage, usageText, watchToEnd } from './process-usage.ts';

export interface OneShotExport extends Usage {
  /** Lifetime of the process. */
  seconds: number;
  pageCount: number;
  contentSha256: string;
}

const DOMAIN = 'docs.example.test';

const result = z.object({ pageCount: z.number(), contentSha256: z.string() });

/** Runs `galley export` once. `state`: the folder for `--incremental`. */
export async function oneShotExport(
  { lifetime, progress }: ExportBench,
  { origin, what, state }: { origin: string; what: string; state?: string },
): Promise<OneShotExport> {
  const galley = await builtGalley();
  const folder = await mkdtemp(join(tmpdir(), 'galley-one-shot-'));
  try {
    const out = join(folder, 'bundle.tar.gz');
    const incremental = state === undefined ? [] : ['--incremental', state];
    const args = [galley, 'export', DOMAIN, '--origin', origin, '--out', out, '--json', ...incremental];
    const startedMs = performance.now();
    const exporting = execa(process.execPath, args, {
      cancelSignal: lifetime.signal,
      // This machine's settings, such as GALLEY_CONFIG or ADMIN_API_URL, would change what is measured.
      extendEnv: false,
      env: { PATH: process.env.PATH, HOME: folder, TMPDIR: folder },
    });
    const usage = watchToEnd(exporting.pid);
    const { stdout } = await exporting;
    const seconds = (performance.now() - startedMs) / 1_000;
    const measured = { seconds, ...(await usage), ...result.parse(JSON.parse(stdout)) };
    const { pageCount } = measured;
    progress(`${what}: galley export: ${secondsText(seconds)}, ${pageCount} pages; ${usageText(measured)}`);
    return measured;
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 3 });
  }
}
