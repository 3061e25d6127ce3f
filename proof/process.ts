/** The program of the process that compares a bundle with its origin (create-prover.ts). */
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pino } from 'pino';
import { errorText } from '../base/error-code.ts';
import { serveJobs } from '../base/job-program.ts';
import { NO_LIMITS } from '../bundle/manifest.ts';
import { unpackBundle } from '../deployment/fetch/unpack.ts';
import { BrowserPool } from '../exporter/render/browser-pool.ts';
import type { ProofWork } from './messages.ts';
import { proveBundle } from './prove-bundle.ts';

// If memory is short, the system should end this process and its browser, not the one that exports. Only Linux has it.
await writeFile('/proc/self/oom_score_adj', '1000').catch(() => undefined);
const logger = pino({ level: 'silent' });
serveJobs<ProofWork>(async ({ archive, browser, ...task }, { signal, notify }) => {
  const pool = new BrowserPool({ ...browser, logger });
  try {
    const trouble = await pool.trouble();
    if (trouble !== undefined) return { error: trouble.text };
    const folder = join(dirname(archive), 'bundle');
    await mkdir(folder);
    await unpackBundle({ archive, folder, limits: NO_LIMITS, signal, accept: () => {} });
    return await proveBundle({ ...task, folder, browser: pool, logger, signal, onProgress: notify });
  } catch (error) {
    return { error: errorText(error) };
  } finally {
    await pool.close();
  }
});
