import { once } from 'node:events';
import { chmod, mkdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { lockFolder } from '../folder-lock.ts';
import { type ThreadCommand, type ThreadData, type ThreadMessage, threadMessage } from './messages.ts';
import { beginDatabase } from './new-database.ts';

export interface EmbeddedDatabase {
  /** The URL for `openDatabase({ url, maxConnections })`. */
  url: string;
  /**
   * PGlite is one session. Its socket server interleaves the messages of two connections (one client's Parse replaces
   * another's unnamed statement before its Execute), so a client's pool must have exactly this many connections, and no
   * code may request a second one while it holds a transaction.
   */
  maxConnections: 1;
  /** Resolves when the database has ended for any reason. */
  exited: Promise<void>;
  /** Copies its files, as of one moment, into a new folder while it runs. Queries wait for it. */
  copyTo(folder: string): Promise<void>;
  /** Ends connections, flushes and unlocks the folder. Safe to call twice. */
  stop(): Promise<void>;
}

/** Linux takes 107 bytes for a socket's path, macOS 103. */
const MAX_SOCKET_PATH_BYTES = 100;

/** A database that doesn't close within this time is killed: its write-ahead log makes that safe. */
const STOP_TIMEOUT_MS = 5_000;

const SOCKET_NAME = '.s.PGSQL.5432';

/**
 * Opens the database in `home/database` in a thread of this process, behind a Unix socket that only this user can reach
 * (a loopback port on Windows).
 * @throws FolderInUse if another process has it open, here or in another container: two would destroy its files.
 */
export async function startEmbeddedDatabase(home: string): Promise<EmbeddedDatabase> {
  const dataDir = join(home, 'database');
  const unlock = await lockFolder(join(home, 'database.lock'), home);
  try {
    await mkdir(dataDir, { recursive: true, mode: 0o700 });
    await beginDatabase(dataDir);
    return await startThread(dataDir, await socketFolder(home), unlock);
  } catch (error) {
    await unlock();
    throw error;
  }
}

async function socketFolder(home: string): Promise<string | null> {
  if (process.platform === 'win32') return null;
  const own = join(home, 'socket');
  const fits = Buffer.byteLength(join(own, SOCKET_NAME)) <= MAX_SOCKET_PATH_BYTES;
  const folder = fits ? own : join(tmpdir(), `galley-${process.pid}`);
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await chmod(folder, 0o700);
  return folder;
}

async function startThread(
  dataDir: string,
  folder: string | null,
  unlock: () => Promise<void>,
): Promise<EmbeddedDatabase> {
  const workerData: ThreadData = { dataDir, socketPath: folder === null ? null : join(folder, SOCKET_NAME) };
  // The build rewrites imports but not this, so the thread's extension is this file's.
  const worker = new Worker(new URL(`./thread${extname(import.meta.url)}`, import.meta.url), { workerData });
  const exited = new Promise<void>((resolve) => {
    worker.once('exit', () => resolve());
  });
  const first = await nextMessage(worker);
  if (first.type !== 'listening') {
    await worker.terminate();
    throw new Error(
      `The embedded database in ${dataDir} can't be opened: ${first.type === 'failed' ? first.message : first.type}`,
    );
  }
  const send = (command: ThreadCommand): void => worker.postMessage(command);
  let stopping: Promise<void> | undefined;
  const stop = async (): Promise<void> => {
    const timer = setTimeout(() => void worker.terminate(), STOP_TIMEOUT_MS);
    send({ type: 'stop' });
    await exited;
    clearTimeout(timer);
    if (folder !== null) await rm(folder, { recursive: true, force: true });
    await unlock();
  };
  return {
    url:
      folder === null
        ? `postgresql://postgres@127.0.0.1:${first.port}/postgres`
        : `postgresql://postgres@localhost/postgres?host=${encodeURIComponent(folder)}`,
    maxConnections: 1,
    exited,
    copyTo: async (to) => {
      const answered = nextMessage(worker);
      send({ type: 'copy', folder: to });
      const answer = await answered;
      if (answer.type === 'failed') throw new Error(`The embedded database can't be copied: ${answer.message}`);
    },
    stop: async () => {
      stopping ??= stop();
      await stopping;
    },
  };
}

/** The thread's next message. */
async function nextMessage(worker: Worker): Promise<ThreadMessage> {
  const received = new AbortController();
  const { signal } = received;
  try {
    const ended = once(worker, 'exit', { signal }).then(() => {
      throw new Error('The embedded database ended');
    });
    const [message] = await Promise.race([once(worker, 'message', { signal }), ended]);
    return threadMessage.parse(message);
  } finally {
    received.abort();
  }
}
