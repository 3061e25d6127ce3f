import { dirname, extname } from 'node:path';
import pLimit from 'p-limit';
import { startBoundedProgram } from '../base/bounded-program.ts';
import type { Prover } from '../exporter/ports.ts';
import type { BrowserSettings, ProofWork } from './messages.ts';
import { untilAborted } from './open-sides.ts';

type ProverOptions = {
  program?: URL;
  /** Of one bundle. */
  limitMs?: number;
};

const PROGRAM = new URL(`./process${extname(import.meta.url)}`, import.meta.url);
const HEAP_MB = 1024;

/**
 * Compares bundles one after another, each in a process of its own: pages of the origin may crash, hang or take all
 * memory, without harm to this process. The browser ends with that process.
 */
export function createProver(
  browser: BrowserSettings,
  { program = PROGRAM, limitMs = 3_600_000 }: ProverOptions = {},
): Prover {
  const oneByOne = pLimit(1);
  return async (task, { signal, onProgress }) => {
    const proving = oneByOne(async () => {
      signal.throwIfAborted();
      const temporaryFolder = dirname(task.archive);
      const { run, close } = startBoundedProgram<ProofWork>(signal, {
        ...{ program, heapMb: HEAP_MB, temporaryFolder, onNotice: onProgress },
        failed: (why) => new Error(why),
      });
      try {
        const { path, sandbox, searchPath } = browser;
        return await run({ ...task, browser: { path, sandbox, searchPath } }, limitMs);
      } finally {
        close();
      }
    });
    // It may wait for another one.
    return await untilAborted(proving, signal);
  };
}
