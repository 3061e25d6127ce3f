import { type ActivityOptions, CancellationScope, condition, isCancellation, patched } from '@temporalio/workflow';
import { waitAtMost } from '../coroutines/wait-at-most.ts';
import { readFailure } from '../trouble/failures.ts';
import { operatorsIn } from '../trouble/not-configured.ts';

/** Reads settings by an activity. Releases before 0.2 answer null where their worker doesn't know the site or rule. */
type Read<T> = (options: ActivityOptions) => Promise<T | null>;

/** `missing` says why there are no settings, and `operators` who can be told, as the worker that was asked knows them. */
export type SettingsReading<T> = { settings: T } | { missing: string; operators: string[] };

/** How long a worker that knows the settings is looked for. Then the last known ones stay in force. */
const PATIENCE = '10s';

/** Time between two questions where the activity's own retries don't make it. */
const ASK_AGAIN_MS = 15_000;

/** Reads settings anew. Null where the run ended at this point, as runs of releases before 0.2 did: see `Read`. */
export async function readSettings<T>(read: Read<T>): Promise<SettingsReading<T> | null> {
  try {
    const settings = await read({ scheduleToCloseTimeout: PATIENCE });
    if (settings !== null) return { settings };
    if (!patched('unconfigured-2026-11')) return null;
    return { missing: 'not configured on the worker that was asked: check its galley.yaml', operators: [] };
  } catch (error) {
    if (isCancellation(error)) throw error;
    const { type, message } = readFailure(error);
    const missing = type === 'NotConfigured' ? message : `no worker told the settings: ${message}`;
    return { missing, operators: operatorsIn(error) };
  }
}

/**
 * Asks until a worker knows the settings: by the activity's retry policy, which costs no history and no worker slot. Null
 * once `over` holds.
 */
export async function waitForSettings<T>(read: Read<T>, over: () => boolean): Promise<T | null> {
  while (!over()) {
    const scope = new CancellationScope();
    try {
      const settings = await scope.run(() => Promise.race([read({}), condition(over).then(() => null)]));
      if (settings !== null) return settings;
    } catch (error) {
      if (isCancellation(error)) throw error;
      readFailure(error);
    } finally {
      scope.cancel();
    }
    await waitAtMost(over, ASK_AGAIN_MS, 'no worker knows the settings');
  }
  return null;
}
