import { type FSWatcher, watch } from 'node:fs';
import { dirname } from 'node:path';

/** Editors and atomic writers touch a file several times in a row; wait for the last one. */
const SETTLE_MS = 50;

type FileWatch = { stop(): void };

/**
 * Calls `onPossibleChange` after any event in the file's folder, and every `pollIntervalMs`. It watches the folder,
 * because an atomic write replaces the file (and a mounted ConfigMap a link beside it). It polls for network disks and
 * missing folders, which have no events. The callee compares.
 */
export function watchFile(file: string, pollIntervalMs: number, onPossibleChange: () => void): FileWatch {
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
