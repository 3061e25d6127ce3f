import { type ActivityOptions, CancellationScope, condition, isCancellation } from '@temporalio/workflow';
import { operatorsOfFailure, readFailure } from '../failures/read-failure.ts';
import { waitAtMost } from './coroutines.ts';

/** How a run follows its settings, which are in the galley.yaml of the workers. */
export type SettingsSource<T> = {
  /** The site or the rule, for people. */
  what: string;
  run: { configChanged: boolean; settings: T | null; state: { settings: T | null; unconfigured: unknown } };
  /** Calls the activity. */
  read: (options: ActivityOptions) => Promise<T>;
  /** Runs after new settings were stored. */
  onAdopted?: (settings: T) => void;
  /** No worker knows the settings: stores the reason in `unconfigured`. The last known settings stay in force. */
  reportMissing: (missing: MissingSettings) => void;
};

/** The reason, and the operators to notify, as the worker that was asked knows them. */
type MissingSettings = { message: string; operators: string[] };

/** After this time without a worker that knows the settings, the last known ones stay in force. */
const READ_TIMEOUT = '10s';

/** The delay between two reads if the activity failed without using its retries. */
const RETRY_MS = 15_000;

const MAX_MESSAGE = 500;

/** Reads the settings again. */
export async function rereadSettings<T>(source: SettingsSource<T>): Promise<void> {
  const { what, read } = source;
  try {
    adopt(source, await read({ scheduleToCloseTimeout: READ_TIMEOUT, summary: `settings of ${what}` }));
  } catch (error) {
    if (isCancellation(error)) throw error;
    const { type, message } = readFailure(error);
    const missing = type === 'NotConfigured' ? message : `no worker returned the settings: ${message}`;
    source.reportMissing({ message: missing.slice(0, MAX_MESSAGE), operators: operatorsOfFailure(error) });
  }
}

/**
 * Reads the settings again after each `configChanged` signal, and for as long as no worker knows them.
 * @param onReread runs after each read that a signal caused
 */
export async function watchSettings<T>(
  source: SettingsSource<T>,
  onReread: () => Promise<void> | void = () => {},
): Promise<void> {
  const { run } = source;
  for (;;) {
    await condition(() => run.configChanged || run.state.unconfigured !== null);
    if (!run.configChanged) {
      await adoptWhenKnown(source);
      continue;
    }
    run.configChanged = false;
    await rereadSettings(source);
    await onReread();
  }
}

async function adoptWhenKnown<T>(source: SettingsSource<T>): Promise<void> {
  const { run } = source;
  const isOver = (): boolean => run.configChanged || run.state.unconfigured === null;
  const settings = await waitForSettings(source, isOver);
  if (settings !== null) adopt(source, settings);
}

function adopt<T>({ run, onAdopted }: SettingsSource<T>, settings: T): void {
  run.settings = settings;
  run.state.settings = settings;
  run.state.unconfigured = null;
  onAdopted?.(settings);
}

/** Polls by the activity's retry policy, which needs no history and no worker slot. Null once `isOver` holds. */
async function waitForSettings<T>({ what, read }: SettingsSource<T>, isOver: () => boolean): Promise<T | null> {
  const summary = `until a worker knows ${what}`;
  while (!isOver()) {
    const scope = new CancellationScope();
    try {
      const settings = await scope.run(() => Promise.race([read({ summary }), condition(isOver).then(() => null)]));
      if (settings !== null) return settings;
    } catch (error) {
      if (isCancellation(error)) throw error;
      readFailure(error);
    } finally {
      scope.cancel();
    }
    await waitAtMost(isOver, RETRY_MS, 'no worker knows the settings');
  }
  return null;
}
