import { type FSWatcher, watch } from 'node:fs';
import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Logger } from 'pino';
import { ValuesReadError } from '../errors.ts';
import { readValuesFile, type Wanted } from './values.ts';

/** Editors and atomic writers touch a file several times in a row; wait for the last one. */
const SETTLE_MS = 50;

/** What the values file asks for, or why it can't be read. */
export type ValuesState = { kind: 'wanted'; wanted: Wanted } | { kind: 'unreadable'; error: ValuesReadError };

export type ValuesWatch = {
  current(): ValuesState;
  stop(): void;
};

/**
 * Follows the values file and calls `onChange` when it asks for something else. For a `file:` link a new archive under
 * the same name is a change too, because air-gapped operators deliver that way.
 */
export async function watchValues(
  valuesFile: string,
  pollIntervalMs: number,
  logger: Logger,
  onChange: (values: ValuesState) => void,
): Promise<ValuesWatch> {
  let current = await readValues(valuesFile, { emptyIsOff: true });
  let seen = await signature(current);
  let looking = false;
  let lookAgain = false;

  async function look(): Promise<void> {
    if (looking) {
      lookAgain = true;
      return;
    }
    looking = true;
    try {
      do {
        lookAgain = false;
        // An editor that writes in place empties the file first, which doesn't mean `enabled: false`.
        const values = await readValues(valuesFile, { emptyIsOff: false });
        const found = await signature(values);
        if (found === seen) continue;
        current = values;
        onChange(values);
        // Only after success, so that a change that met an error is reported again at the next poll.
        seen = found;
      } while (lookAgain);
    } finally {
      looking = false;
    }
  }

  const watching = watchFile(valuesFile, pollIntervalMs, () => {
    look().catch((error: unknown) => logger.error({ err: error }, 'Looking at the values file failed'));
  });
  return { current: () => current, stop: () => watching.stop() };
}

async function readValues(valuesFile: string, options: { emptyIsOff: boolean }): Promise<ValuesState> {
  try {
    const wanted = await readValuesFile(valuesFile, options);
    if (wanted !== undefined) return { kind: 'wanted', wanted };
    const error = new ValuesReadError(valuesFile, null, 'there is no such file yet', { isMissing: true });
    return { kind: 'unreadable', error };
  } catch (error) {
    if (error instanceof ValuesReadError) return { kind: 'unreadable', error };
    throw error;
  }
}

async function signature(values: ValuesState): Promise<string> {
  if (values.kind === 'unreadable') return `unreadable ${values.error.message}`;
  const { wanted } = values;
  const { settings } = wanted;
  if (!wanted.enabled) return JSON.stringify(['off', settings]);
  const { link, version, publicKey = '', integrity = '' } = wanted;
  return JSON.stringify([
    settings,
    link.href,
    version,
    publicKey,
    integrity,
    link.protocol === 'file:' ? await fileStamp(link) : '',
  ]);
}

async function fileStamp(link: URL): Promise<string> {
  try {
    const { mtimeMs, size } = await stat(fileURLToPath(link));
    return `${mtimeMs}-${size}`;
  } catch {
    return 'missing';
  }
}

/**
 * Calls `onPossibleChange` after any event in the file's folder, and every `pollIntervalMs`. It watches the folder,
 * because an atomic write replaces the file (and a mounted ConfigMap a link beside it). It polls for network disks and
 * missing folders, which have no events. The callee compares.
 */
function watchFile(file: string, pollIntervalMs: number, onPossibleChange: () => void): { stop(): void } {
  let watcher: FSWatcher | undefined;
  let settling: NodeJS.Timeout | undefined;

  function soon(): void {
    clearTimeout(settling);
    settling = setTimeout(onPossibleChange, SETTLE_MS);
  }

  function open(): void {
    try {
      watcher = watch(dirname(file), { persistent: false }, soon);
      watcher.on('error', close);
    } catch {
      watcher = undefined;
    }
  }

  function close(): void {
    watcher?.close();
    watcher = undefined;
  }

  open();
  const poll = setInterval(() => {
    if (watcher === undefined) open();
    onPossibleChange();
  }, pollIntervalMs);

  return {
    stop() {
      clearInterval(poll);
      clearTimeout(settling);
      close();
    },
  };
}
