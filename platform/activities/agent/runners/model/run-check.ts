import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Contain } from '../contain.ts';
import type { ContainedRun } from '../contained-run.ts';
import { formatBytes } from '../run-outcome.ts';
import { ToolRefusal } from './tool-refusal.ts';

/** How much of a check's output the model sees: its end, which usually has the verdict. */
const SHOWN_BYTES = 16 * 1024;

/** A check that prints more than this is killed. */
const OUTPUT_LIMIT_BYTES = 4 * 1024 ** 2;

/** A longer check would use up the model's own time. */
const MAX_CHECK_MS = 10 * 60_000;

export type Check = {
  contain: Contain;
  /** The model's run; its words and prompt are replaced. */
  run: ContainedRun;
  words: readonly string[];
  /** The files to check. The check runs on a copy, so what it writes is dropped. */
  checkout: string;
};

/** Runs the project's check on a copy of the files. Resolves to text for the model. */
export async function runCheck({ contain, run, words, checkout }: Check): Promise<string> {
  const scratchDir = join(run.scratchDir, 'check');
  await mkdir(scratchDir, { recursive: true });
  let shown = Buffer.alloc(0);
  try {
    const { report, endedBy } = await contain({
      ...run,
      scratchDir,
      words,
      stdin: new Uint8Array(),
      input: checkout,
      collect: false,
      limits: {
        ...run.limits,
        timeoutMs: Math.min(run.limits.timeoutMs, MAX_CHECK_MS),
        outputLimitBytes: OUTPUT_LIMIT_BYTES,
      },
      log: (chunk) => {
        shown = Buffer.concat([shown, chunk]).subarray(-SHOWN_BYTES);
      },
    });
    run.signal.throwIfAborted();
    if (endedBy === 'output') return `ended: it printed more than ${formatBytes(OUTPUT_LIMIT_BYTES)}\n${shown}`;
    if (endedBy !== null) return `ended: it took too long\n${shown}`;
    if (report.exitCode === null) throw new ToolRefusal('the check could not be run');
    return `exit code ${report.exitCode}\n${shown}`;
  } finally {
    await rm(scratchDir, { recursive: true, force: true });
  }
}
