import { pathToFileURL } from 'node:url';
import type { Logger } from 'pino';
import { errorText } from '../../base/error-code.ts';
import { ConfigurationError } from '../../contract/configuration-error.ts';
import type { EmbeddedDatabase } from '../../embedded/database/embedded-database.ts';
import { createObjectStore } from '../../platform/objects/create-object-store.ts';
import type { ObjectStore } from '../../platform/objects/object-store.ts';
import { connectDatabase, type Database } from '../../platform/store/database.ts';
import type { Home } from '../process/home.ts';
import type { Lifetime } from '../process/lifetime.ts';
import type { Settings } from '../settings/environment.ts';
import { requireDatabaseUrl } from '../settings/platform.ts';

interface Context {
  settings: Settings;
  home: Home;
  logger: Logger;
  lifetime: Lifetime;
  /** Set if `up` runs the database itself. */
  embedded?: EmbeddedDatabase | undefined;
}

export interface PlatformStore {
  /** Connects at its first query; the caller runs migrations. */
  db: Database;
  objects: ObjectStore;
}

/**
 * The platform's database and object store from the variables.
 * @throws ConfigurationError if one is missing or invalid.
 */
export async function openPlatformStore(context: Context): Promise<PlatformStore> {
  const { settings, home, logger, lifetime, embedded } = context;
  const target = embedded ?? { url: requireDatabaseUrl(settings) };
  const objects = await openObjectStore(settings, home);
  const db = connectDatabase({
    url: target.url,
    logger: logger.child({ part: 'database' }),
    ...('maxConnections' in target ? { maxConnections: target.maxConnections } : {}),
  });
  lifetime.onStop('database connections', () => db.close());
  return { db, objects };
}

/** @throws ConfigurationError if OBJECT_STORE_URL is invalid. */
export async function openObjectStore(
  { objectStoreUrl }: Pick<Settings, 'objectStoreUrl'>,
  home: Home,
): Promise<ObjectStore> {
  const url = objectStoreUrl ?? pathToFileURL(await home.makeFolder('objects')).href;
  return await createObjectStore({ url }).catch((error: unknown) => {
    throw error instanceof RangeError ? new ConfigurationError([`OBJECT_STORE_URL: ${errorText(error)}`]) : error;
  });
}
