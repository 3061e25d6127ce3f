import type { Logger } from 'pino';
import type { ObjectStore } from '../../objects/object-store.ts';
import type { RunLog } from './run-log.ts';

const EVERY_MS = 3_000;
/** An object is always stored whole, so a long log is stored less often. */
const MORE_MS_PER_MIB = 1_000;
const MIB = 1024 * 1024;

type LogUpload = {
  /** Stores the log's current state. Throws if the object store rejects it. */
  finish(): Promise<void>;
};

/**
 * Stores a growing log repeatedly until `signal` fires or `finish` is called. Calls `onStored` with the size after the
 * first time and after the last.
 */
export function uploadWhileGrowing(
  log: RunLog,
  options: {
    objects: ObjectStore;
    key: string;
    signal: AbortSignal;
    logger: Logger;
    onStored: (sizeBytes: number) => Promise<void>;
  },
): LogUpload {
  const { objects, key, signal, logger, onStored } = options;
  let storedBytes = 0;
  let reported = false;
  let timer: NodeJS.Timeout | undefined;
  let underWay: Promise<void> = Promise.resolve();

  const store = async (): Promise<void> => {
    const { writtenBytes } = log;
    const bytes = log.bytes();
    await objects.put(key, bytes, { contentType: 'text/plain; charset=utf-8', sizeBytes: bytes.length });
    storedBytes = writtenBytes;
    if (reported) return;
    await onStored(bytes.length);
    reported = true;
  };

  const plan = (): void => {
    const delayMs = EVERY_MS + (log.writtenBytes / MIB) * MORE_MS_PER_MIB;
    timer = setTimeout(() => {
      underWay = (async () => {
        try {
          if (log.writtenBytes > storedBytes) await store();
        } catch (error) {
          logger.warn({ err: error, key }, 'The log of a run could not be stored yet');
        }
        if (!signal.aborted) plan();
      })();
    }, delayMs);
  };
  const stop = (): void => clearTimeout(timer);
  signal.addEventListener('abort', stop, { once: true });
  plan();

  return {
    async finish() {
      stop();
      await underWay;
      stop();
      reported = false;
      await store();
    },
  };
}
