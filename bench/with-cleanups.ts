import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Cleanups, createCleanups } from '../test/helpers/system/cleanups.ts';

export interface Lifetime extends Cleanups {
  /** Aborted by Ctrl-C and SIGTERM. */
  signal: AbortSignal;
}

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;
const INTERRUPTED_EXIT_CODE = 130;

/** A program that is starting when the signal arrives gets this long to finish starting, so that it can be stopped. */
const LAST_START_MS = 20_000;

/** Runs the work, then its cleanups, also after a failure. Ctrl-C and SIGTERM run the cleanups and end the process. */
export async function withCleanups<T>(work: (lifetime: Lifetime) => Promise<T>): Promise<T> {
  const cleanups = createCleanups();
  const interruption = new AbortController();
  const working = work({ ...cleanups, signal: interruption.signal });
  const interrupt = (): void => {
    if (interruption.signal.aborted) return;
    interruption.abort(new Error('interrupted'));
    void endAfter(working, cleanups);
  };
  for (const signal of SIGNALS) process.on(signal, interrupt);
  try {
    return await working;
  } catch (error) {
    // The process ends after the cleanups, so errors that they cause are not reported.
    if (interruption.signal.aborted) return await new Promise<never>(() => {});
    throw error;
  } finally {
    for (const signal of SIGNALS) process.off(signal, interrupt);
    if (!interruption.signal.aborted) await cleanups.run();
  }
}

/** A new folder that is deleted with the other cleanups. */
export async function temporaryFolder(cleanups: Pick<Cleanups, 'add'>, prefix: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), prefix));
  cleanups.add(() => rm(folder, { recursive: true, force: true, maxRetries: 3 }));
  return folder;
}

async function endAfter(working: Promise<unknown>, cleanups: Cleanups): Promise<never> {
  process.stderr.write('stopping everything\n');
  const run = (): Promise<void> => cleanups.run().catch((error) => void process.stderr.write(`${error}\n`));
  await run();
  await Promise.race([working.catch(() => undefined), sleep(LAST_START_MS)]);
  await run();
  process.exit(INTERRUPTED_EXIT_CODE);
}
