import { existsSync } from 'node:fs';
import type { Admin } from '../../platform/admin/admin.ts';
import type { ObjectStore } from '../../platform/objects/object-store.ts';
import type { DatabaseOptions } from '../../platform/store/database.ts';
import { type Context, createContext } from '../../programs/process/context.ts';
import { OPERATOR_TOKEN_FILE, openHome } from '../../programs/process/home.ts';
import { platformPagesUrl } from '../../programs/process/serve.ts';
import { CommandError, UsageError } from '../command-error.ts';
import { explainSilence } from '../explain-silence.ts';
import { plain } from '../output.ts';

/** Unlike a service, a command must not wait forever for a missing database. */
const OPEN_TIMEOUT_MS = 5_000;

/**
 * Runs `use` on the platform's database: directly on DATABASE_URL; for the embedded one through the running `up`, or by
 * opening it if none runs.
 * @param openTimeoutMs how long to retry an unreachable database
 */
export async function withAdmin(use: (admin: Admin) => Promise<void>, openTimeoutMs = OPEN_TIMEOUT_MS): Promise<void> {
  const context = createContext({ quiet: true });
  const { settings } = context;
  if (settings.databaseUrl !== undefined)
    return await onDatabase({ url: settings.databaseUrl }, context, use, openTimeoutMs);
  const home = openHome(settings.home);
  const running = await home.running();
  if (running !== undefined) {
    const token = settings.operatorToken ?? (await home.readSecret(OPERATOR_TOKEN_FILE));
    if (token === undefined)
      throw new CommandError(`${settings.home} holds no operator token of the running galley up`);
    if (running.platform === null)
      throw new CommandError(
        `The galley up on ${settings.home} runs no platform: keys and projects are those of its ADMIN_API_URL`,
      );
    const { adminOverHttp } = await import('./admin-over-http.ts');
    return await use(adminOverHttp({ platformUrl: running.platform, token }));
  }
  const unlock = await home.lock();
  try {
    const { startEmbeddedDatabase } = await import('../../embedded/database/embedded-database.ts');
    const starting = startEmbeddedDatabase(settings.home);
    const { url, maxConnections, stop } = await explainSilence('Starting the embedded database', starting);
    try {
      await onDatabase({ url, maxConnections }, context, use, openTimeoutMs);
    } finally {
      await stop();
    }
  } finally {
    await unlock();
  }
}

async function onDatabase(
  target: Pick<DatabaseOptions, 'url' | 'maxConnections'>,
  { logger, settings }: Context,
  use: (admin: Admin) => Promise<void>,
  openTimeoutMs: number,
): Promise<void> {
  // Imported on demand, because loading the database's code takes a second that `galley --help` doesn't need.
  const { openDatabase } = await import('../../platform/store/database.ts');
  const { adminOnDatabase } = await import('../../platform/admin/admin.ts');
  const signal = AbortSignal.timeout(openTimeoutMs);
  const opening = openDatabase({ ...target, logger, signal });
  const db = await explainSilence('Waiting for the database', opening).catch((error: unknown) => {
    if (!signal.aborted) throw error;
    throw new CommandError(
      `The database can't be reached, or its migrations aren't done (tried for ${openTimeoutMs / 1000} s): see DATABASE_URL`,
    );
  });
  try {
    const publicUrl = platformPagesUrl(settings);
    const openObjects = () => openObjectsOf(settings);
    await use(adminOnDatabase(db, { publicUrl, openObjects, exportKeep: settings.exportKeep, logger }));
  } finally {
    await db.close();
  }
}

/** With a database of its own, the platform may keep its objects on another machine: an empty folder here is no store. */
async function openObjectsOf(settings: Context['settings']): Promise<ObjectStore> {
  const home = openHome(settings.home);
  if (
    settings.databaseUrl !== undefined &&
    settings.objectStoreUrl === undefined &&
    !existsSync(home.path('objects'))
  ) {
    throw new UsageError("OBJECT_STORE_URL: expected the platform's object store beside DATABASE_URL");
  }
  const { openObjectStore } = await import('../../programs/parts/platform-store.ts');
  return await openObjectStore(settings, home);
}

/** @throws CommandError if there is no such organization: a list of nothing would hide the mistake */
export async function requireOrganization(admin: Admin, name: string | undefined): Promise<void> {
  if (name === undefined) return;
  const found = await admin.listOrganizations();
  if (!found.some(({ organization }) => organization === name))
    throw new CommandError(`There is no organization ${plain(name)}: galley organizations list names those there are`);
}
