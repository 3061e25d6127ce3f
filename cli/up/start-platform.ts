import { startEmbeddedDatabase } from '../../embedded/database/embedded-database.ts';
import type { Admin } from '../admin/admin.ts';
import { adminOnDatabase } from '../admin/admin-on-database.ts';
import { startPlatformApi } from '../programs/platform-api.ts';
import { openPlatformStore } from '../programs/platform-store.ts';
import { startPlatformWorker } from '../programs/platform-worker.ts';
import { registerSearchAttributes, type SearchAttributes } from '../search-attributes.ts';
import type { Temporal } from '../temporal.ts';
import { chooseTemporal, type Surroundings } from './choose-temporal.ts';
import { ensureAdminKey } from './first-organization.ts';

/** A platform that answers, with everything it stands on. */
export interface RunningPlatform {
  url: string;
  /** Opens its Admin API for the first organization. */
  key: string;
  admin: Admin;
  temporal: Temporal;
  searchAttributes: SearchAttributes;
  temporalUiUrl: string | null;
}

/** Starts Temporal, the database, the Admin API and the platform's worker, each embedded unless a variable names one. */
export async function startPlatform(surroundings: Surroundings & { operatorToken: string }): Promise<RunningPlatform> {
  const { settings, home, logger, lifetime, operatorToken } = surroundings;
  const { temporal, uiUrl } = await chooseTemporal(surroundings);
  const embedded = settings.databaseUrl === undefined ? await startEmbeddedDatabase(home.folder) : undefined;
  if (embedded) {
    lifetime.onStop('embedded database', embedded.stop);
    void embedded.exited.then(() => lifetime.fail(new Error('The embedded database ended by itself')));
  }
  const store = await openPlatformStore({ settings, home, logger, lifetime, embedded });
  const service = await startPlatformApi({ settings, store, temporal, operatorToken, logger, lifetime });
  await service.migrated;
  const { client, namespace } = temporal;
  const searchAttributes = registerSearchAttributes({ client, namespace, logger, signal: lifetime.signal });
  await startPlatformWorker({ store, temporal, searchAttributes, logger, lifetime });
  const admin = adminOnDatabase(store.db);
  const key = await ensureAdminKey({ admin, url: service.url, home });
  return { url: service.url, key, admin, temporal, searchAttributes, temporalUiUrl: uiUrl };
}
