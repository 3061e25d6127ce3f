/** The program of the process that compares a bundle with its origin (create-prover.ts). */
import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pino } from 'pino';
import { serveBoundedJobs } from '../base/bounded-program.ts';
import { NO_LIMITS } from '../bundle/manifest.ts';
import { unpackBundle } from '../deployment/fetch/unpack.ts';
import { BrowserPool } from '../exporter/render/browser-pool.ts';
import type { ProofWork } from './messages.ts';
import { proveBundle } from './prove-bundle.ts';

const logger = pino({ level: 'silent' });
await serveBoundedJobs<ProofWork>(async ({ archive, browser, ...task }, { signal, notify }) => {
  const pool = new BrowserPool({ ...browser, logger });
  try {
    const trouble = await pool.trouble();
    if (trouble !== undefined) throw new Error(trouble.text);
    const folder = join(dirname(archive), 'bundle');
    await mkdir(folder);
    await unpackBundle({ archive, folder, limits: NO_LIMITS, signal, accept: () => {} });
    return await proveBundle({ ...task, folder, browser: pool, logger, signal, onProgress: notify });
  } finally {
    await pool.close();
  }
});
