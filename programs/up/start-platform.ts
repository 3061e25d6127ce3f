import { startEmbeddedDatabase } from '../../embedded/database/embedded-database.ts';
import type { Admin } from '../../platform/admin/admin.ts';
import { adminOnDatabase } from '../../platform/admin/admin-on-database.ts';
import { openPlatformStore } from '../parts/platform-store.ts';
import { startPlatformApi } from '../platform.ts';
import { startPlatformWorker } from '../platform-worker.ts';
import type { ChosenTemporal, UpContext } from './choose-temporal.ts';
import { ensureAdminKey } from './first-organization.ts';

/** A running platform with everything it needs. */
interface RunningPlatform {
  url: string;
  /** The first organization's access to its Admin API. */
  key: string;
  admin: Admin;
  /** The first administrator's link to the dashboard; undefined if there are members. */
  setupUrl: string | undefined;
}

interface Needs extends Pick<ChosenTemporal, 'temporal' | 'searchAttributes'> {
  operatorToken: string;
}

/** Starts the database (embedded unless a variable names one), the Admin API and the platform's worker. */
export async function startPlatform(
  { temporal, searchAttributes, operatorToken }: Needs,
  { settings, home, logger, lifetime }: UpContext,
): Promise<RunningPlatform> {
  const embedded = settings.databaseUrl === undefined ? await startEmbeddedDatabase(home.folder) : undefined;
  if (embedded) {
    lifetime.onStop('embedded database', embedded.stop);
    void embedded.exited.then(() => lifetime.fail(new Error('The embedded database ended by itself')));
  }
  const store = await openPlatformStore({ settings, home, logger, lifetime, embedded });
  const service = await startPlatformApi({ settings, store, temporal, operatorToken, logger, lifetime });
  await service.migrated;
  const publicUrl = settings.platformPublicUrl ?? service.url;
  await startPlatformWorker({ settings, home, publicUrl, store, temporal, searchAttributes, logger, lifetime });
  const admin = adminOnDatabase(store.db, publicUrl);
  const key = await ensureAdminKey({ admin, url: service.url, home });
  return { url: service.url, key, admin, setupUrl: await service.setupUrl };
}
