import { constants, copyFile, rm, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Connection } from '@temporalio/client';
import { errorCode } from '../../base/error-code.ts';
import { SEARCH_ATTRIBUTES } from '../../contract/names.ts';
import { type GuardedChild, spawnGuarded } from '../guarded-child.ts';
import { freePort } from '../ports.ts';

export interface DevServerOptions {
  /** The `temporal` program (locateDevServer). */
  executable: string;
  /** The SQLite file for all state; absent: in memory. */
  dbFilename?: string;
  host?: string;
  /** 0 or absent: a free one. */
  port?: number;
  uiPort?: number;
  namespace?: string;
  /** Created beside `namespace`, with the same search attributes. */
  moreNamespaces?: readonly string[];
  environment?: NodeJS.ProcessEnv;
}

export interface DevServer {
  /** host:port for `TEMPORAL_ADDRESS`. */
  address: string;
  namespace: string;
  uiUrl: string;
  /** Resolves when the server has ended for any reason. */
  exited: Promise<void>;
  stop(): Promise<void>;
  /** Kills it, as a crash would (tests). */
  kill(): Promise<void>;
  /** Copies its database into a folder while it runs, which it pauses for that. Only with `dbFilename`. */
  copyTo(folder: string): Promise<void>;
}

/** Registered at start, because the dev server takes search attributes as flags. */
const SEARCH_ATTRIBUTE_FLAGS = [
  [SEARCH_ATTRIBUTES.site, 'Keyword'],
  [SEARCH_ATTRIBUTES.phase, 'Keyword'],
  [SEARCH_ATTRIBUTES.version, 'Keyword'],
  [SEARCH_ATTRIBUTES.pullRequest, 'Keyword'],
  [SEARCH_ATTRIBUTES.linkExpiresAt, 'Datetime'],
].flatMap(([name, type]) => ['--search-attribute', `${name}=${type}`]);

/** SQLite's first migration takes some seconds on a slow disk. */
const START_TIMEOUT_MS = 60_000;

/** The server also listens on free ports of its own choice. If another program takes one of them first, it panics. */
const START_ATTEMPTS = 3;

class EndedAtStart extends Error {}

/**
 * Starts the official Temporal dev server as a child that can't outlive this process, and waits until it responds.
 * @throws PortUnavailable (a requested port is taken), Error with the server's output.
 */
export async function startDevServer(options: DevServerOptions): Promise<DevServer> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await startOnce(options);
    } catch (error) {
      if (!(error instanceof EndedAtStart) || attempt >= START_ATTEMPTS) throw error;
    }
  }
}

async function startOnce(options: DevServerOptions): Promise<DevServer> {
  const { host = '127.0.0.1', namespace = 'default' } = options;
  const port = await freePort({ host, port: options.port ?? 0, variable: 'TEMPORAL_PORT' });
  const uiPort = await freePort({ host, port: options.uiPort ?? 0, variable: 'TEMPORAL_UI_PORT' });
  const child = spawnGuarded(
    options.executable,
    [
      ...['server', 'start-dev', '--log-level', 'warn'],
      ...[namespace, ...(options.moreNamespaces ?? [])].flatMap((each) => ['--namespace', each]),
      ...['--ip', host, '--port', String(port), '--ui-ip', host, '--ui-port', String(uiPort)],
      ...(options.dbFilename === undefined ? [] : ['--db-filename', options.dbFilename]),
      ...SEARCH_ATTRIBUTE_FLAGS,
    ],
    withoutTemporalVariables(options.environment ?? process.env),
  );
  const address = `${host}:${port}`;
  try {
    await waitUntilHealthy(child, { address, namespace });
  } catch (error) {
    await child.stop();
    throw error;
  }
  const uiUrl = `http://${host}:${uiPort}`;
  const copyTo = (folder: string) => copyWhilePaused(child, options.dbFilename ?? '', folder);
  return { address, namespace, uiUrl, exited: child.exited, stop: child.stop, kill: child.kill, copyTo };
}

/** The stop of a process with many threads takes a moment. */
const SETTLE_MS = 50;

/** A program that `temporal` on the PATH only wraps isn't paused, and may write all the time. */
const COPY_ATTEMPTS = 20;

/**
 * SQLite recovers from the files that a killed process leaves (https://sqlite.org/atomiccommit.html), and a paused one has
 * the same. Both files must be of one moment: they are copied again if they changed meanwhile.
 */
async function copyWhilePaused(child: GuardedChild, dbFilename: string, folder: string): Promise<void> {
  const files = [dbFilename, `${dbFilename}-wal`, `${dbFilename}-journal`];
  const resume = await child.pause();
  try {
    let before = '';
    for (let attempt = 1; attempt <= COPY_ATTEMPTS; attempt += 1) {
      await sleep(SETTLE_MS);
      const now = JSON.stringify(await Promise.all(files.map(stampOf)));
      if (now === before) return;
      before = now;
      for (const file of files) {
        const copy = join(folder, basename(file));
        await rm(copy, { force: true });
        await copyFile(file, copy, constants.COPYFILE_FICLONE).catch(unlessMissing);
      }
    }
    throw new Error(`${dbFilename} changed while it was copied: stop galley up, and back up then`);
  } finally {
    resume();
  }
}

async function stampOf(file: string): Promise<string | null> {
  const found = await stat(file, { bigint: true }).catch(unlessMissing);
  return found ? `${found.size} ${found.mtimeNs}` : null;
}

function unlessMissing(error: unknown): null {
  if (errorCode(error) !== 'ENOENT') throw error;
  return null;
}

/** The server's program would also read variables meant for clients (a profile, a namespace, a key). */
function withoutTemporalVariables(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !name.startsWith('TEMPORAL_')));
}

async function waitUntilHealthy(child: GuardedChild, target: { address: string; namespace: string }): Promise<void> {
  const deadline = Date.now() + START_TIMEOUT_MS;
  let ended = false;
  void child.exited.then(() => {
    ended = true;
  });
  while (!(await answers(target))) {
    if (ended) throw new EndedAtStart(`The Temporal dev server ended at start: ${child.output().trim()}`);
    if (Date.now() > deadline)
      throw new Error(
        `The Temporal dev server didn't answer within ${START_TIMEOUT_MS / 1000} s: ${child.output().trim()}`,
      );
    await sleep(100);
  }
}

/** The frontend listens before the namespace exists, so poll the namespace. */
async function answers({ address, namespace }: { address: string; namespace: string }): Promise<boolean> {
  // No retries: the caller polls, and a retry that waits when the connection closes would end the process.
  const connection = Connection.lazy({ address, interceptors: [] });
  try {
    await connection.withDeadline(Date.now() + 1_000, () =>
      connection.workflowService.describeNamespace({ namespace }),
    );
    return true;
  } catch {
    return false;
  } finally {
    await connection.close();
  }
}
