import { constants, cpSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import { PGLiteSocketServer } from '@electric-sql/pglite-socket';
import { errorText } from '../../base/error-code.ts';
import { type ThreadMessage, threadCommand, threadData } from './messages.ts';
import { openSyncedDatabase } from './synced-database.ts';

// The embedded database's thread: PostgreSQL compiled to WebAssembly would block the event loop of `up` for every
// query.

/** More than a client's one connection: a broken one is still closing while its successor connects. */
const MAX_CONNECTIONS = 4;

const say = (message: ThreadMessage): void => parentPort?.postMessage(message);

async function serve(): Promise<void> {
  const { dataDir, socketPath } = threadData.parse(workerData);
  const db = await openSyncedDatabase(dataDir);
  const server = new PGLiteSocketServer({
    db,
    maxConnections: MAX_CONNECTIONS,
    ...(socketPath === null ? { host: '127.0.0.1', port: 0 } : { path: socketPath }),
  });
  await server.start();
  parentPort?.on('message', async (message) => {
    const command = threadCommand.parse(message);
    if (command.type === 'copy') {
      say(copyFiles(dataDir, command.folder));
      return;
    }
    await server.stop();
    await db.close();
    say({ type: 'stopped' });
    parentPort?.close();
  });
  say({ type: 'listening', port: socketPath === null ? Number(server.getServerConn().split(':').at(-1)) : null });
}

/**
 * PostgreSQL runs in this thread, so it writes nothing meanwhile. The copy is what a killed server leaves, from which
 * PostgreSQL recovers by its write-ahead log.
 */
function copyFiles(dataDir: string, folder: string): ThreadMessage {
  try {
    cpSync(dataDir, folder, { recursive: true, mode: constants.COPYFILE_FICLONE });
    return { type: 'copied' };
  } catch (error) {
    return { type: 'failed', message: errorText(error) };
  }
}

serve().catch((error: unknown) => {
  say({ type: 'failed', message: errorText(error) });
  parentPort?.close();
});
