import { stat } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Logger } from 'pino';
import { ValuesFileError } from '../errors.ts';
import { readValuesFile, type Wanted } from './values.ts';
import { watchFile } from './watch-file.ts';

/** What the values file asks for, or why it can't be read. */
export type Target = { kind: 'wanted'; wanted: Wanted } | { kind: 'unreadable'; error: ValuesFileError };

export type TargetWatch = {
  current(): Target;
  stop(): void;
};

/**
 * Follows the values file and calls `onChange` when it asks for something else. For a `file:` link a new archive under
 * the same name is a change too, because air-gapped operators deliver that way.
 */
export async function watchTarget(
  valuesFile: string,
  pollIntervalMs: number,
  logger: Logger,
  onChange: (target: Target) => void,
): Promise<TargetWatch> {
  let current = await readTarget(valuesFile, { emptyIsOff: true });
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
        const target = await readTarget(valuesFile, { emptyIsOff: false });
        const found = await signature(target);
        if (found === seen) continue;
        current = target;
        onChange(target);
        // Only after success, so that a change that met an error is reported again at the next poll.
        seen = found;
      } while (lookAgain);
    } finally {
      looking = false;
    }
  }

  const watch = watchFile(valuesFile, pollIntervalMs, () => {
    look().catch((error: unknown) => logger.error({ err: error }, 'Looking at the values file failed'));
  });
  return { current: () => current, stop: () => watch.stop() };
}

async function readTarget(valuesFile: string, options: { emptyIsOff: boolean }): Promise<Target> {
  try {
    const wanted = await readValuesFile(valuesFile, options);
    if (wanted !== undefined) return { kind: 'wanted', wanted };
    const error = new ValuesFileError(valuesFile, null, 'there is no such file yet', { isMissing: true });
    return { kind: 'unreadable', error };
  } catch (error) {
    if (error instanceof ValuesFileError) return { kind: 'unreadable', error };
    throw error;
  }
}

async function signature(target: Target): Promise<string> {
  if (target.kind === 'unreadable') return `unreadable ${target.error.message}`;
  const { wanted } = target;
  const { settings } = wanted;
  if (!wanted.enabled) return JSON.stringify(['off', settings]);
  const { link, version, publicKey = '' } = wanted;
  return JSON.stringify([
    settings,
    link.href,
    version,
    publicKey,
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
