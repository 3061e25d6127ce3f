import { type ActivityOptions, CancellationScope, condition, isCancellation, patched } from '@temporalio/workflow';
import { waitAtMost } from '../coroutines/wait-at-most.ts';
import { readFailure } from '../trouble/failures.ts';
import { operatorsIn } from '../trouble/not-configured.ts';

/** What a run needs to follow its settings, which stand in the galley.yaml of the workers. */
export type SettingsSource<T> = {
  /** The site or the rule, as people know it. */
  what: string;
  run: { configChanged: boolean; memory: { unconfigured: unknown } };
  /** Calls the activity. Releases before 0.2 answer null where their worker doesn't know the site or rule. */
  read: (options: ActivityOptions) => Promise<T | null>;
  /** Takes the settings over, and ends `unconfigured`. */
  adopt: (settings: T) => void;
  /** No worker told the settings: the last known ones stay in force, and the state says so. */
  noteMissing: (missing: MissingSettings) => void;
  /** Does what releases before 0.2 did at the answer null, for their histories. False where the run ended. */
  takenOut: () => boolean;
};

/** Why there are no settings, and the operators who can be told, as the worker that was asked knows them. */
export type MissingSettings = { message: string; operators: string[] };

/** How long a worker that knows the settings is looked for. Then the last known ones stay in force. */
const PATIENCE = '10s';

/** Time between two questions where the activity's own retries don't make it. */
const ASK_AGAIN_MS = 15_000;

/** What is kept of a failure's message. */
const MAX_MESSAGE = 500;

/** Reads the settings again. False where the run is to end, as runs of releases before 0.2 did. */
export async function rereadSettings<T>(source: SettingsSource<T>): Promise<boolean> {
  const reading = await readSettings(source);
  if (reading === null) return source.takenOut();
  if ('settings' in reading) source.adopt(reading.settings);
  else source.noteMissing(reading);
  return true;
}

/**
 * Reads the settings again when somebody says that they changed, and for as long as no worker knows them.
 * @param onReread runs after each reading that somebody asked for
 */
export async function watchSettings<T>(source: SettingsSource<T>, onReread = () => {}): Promise<void> {
  const { run } = source;
  for (;;) {
    await condition(() => run.configChanged || run.memory.unconfigured !== null);
    if (!run.configChanged) {
      await settingsToCome(source);
      continue;
    }
    run.configChanged = false;
    if (!(await rereadSettings(source))) return;
    onReread();
  }
}

/** Null where the worker answered null, unless the run knows better: see `read`. */
async function readSettings<T>({ what, read }: SettingsSource<T>): Promise<{ settings: T } | MissingSettings | null> {
  try {
    const settings = await read({ scheduleToCloseTimeout: PATIENCE, summary: `settings of ${what}` });
    if (settings !== null) return { settings };
    if (!patched('unconfigured-2026-11')) return null;
    return { message: 'not configured on the worker that was asked: check its galley.yaml', operators: [] };
  } catch (error) {
    if (isCancellation(error)) throw error;
    const { type, message } = readFailure(error);
    const missing = type === 'NotConfigured' ? message : `no worker told the settings: ${message}`;
    return { message: missing.slice(0, MAX_MESSAGE), operators: operatorsIn(error) };
  }
}

/** Waits for a worker that knows the settings, for as long as none does. */
async function settingsToCome<T>(source: SettingsSource<T>): Promise<void> {
  const { run } = source;
  const over = (): boolean => run.configChanged || run.memory.unconfigured === null;
  const settings = await waitForSettings(source, over);
  if (settings !== null) source.adopt(settings);
}

/**
 * Asks until a worker knows the settings: by the activity's retry policy, which costs no history and no worker slot. Null
 * once `over` holds.
 */
async function waitForSettings<T>({ what, read }: SettingsSource<T>, over: () => boolean): Promise<T | null> {
  const summary = `until a worker knows ${what}`;
  while (!over()) {
    const scope = new CancellationScope();
    try {
      const settings = await scope.run(() => Promise.race([read({ summary }), condition(over).then(() => null)]));
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
