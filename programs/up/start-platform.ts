import { type EmbeddedDatabase, startEmbeddedDatabase } from '../../embedded/database/embedded-database.ts';
import { type Admin, adminOnDatabase } from '../../platform/admin/admin.ts';
import { hashApiKey } from '../../platform/admin/api-key-text.ts';
import type { SitesPage } from '../../platform/dashboard/sites-page.tsx';
import { type HeldStore, withHeldDeletes } from '../../platform/objects/hold-deletes.ts';
import { findKey } from '../../platform/store/api-keys.ts';
import { findOwner } from '../../platform/store/members.ts';
import { OWN_ORGANIZATION } from '../parts/ensure-projects.ts';
import { openPlatformStore } from '../parts/platform-store.ts';
import { startPlatform } from '../platform.ts';
import { startPlatformWorker } from '../platform-worker.ts';
import { ADMIN_KEY_FILE, type Home } from '../process/home.ts';
import type { ChosenTemporal, UpContext } from './choose-temporal.ts';

/** A running platform with everything it needs. */
export interface RunningPlatform {
  url: string;
  /** Its URL as browsers use it. */
  publicUrl: string;
  /** The first organization's access to its Admin API. */
  key: string;
  /** The name of the key's organization, which owners may have changed. */
  organization: string;
  admin: Admin;
  /** The first administrator's link to the dashboard; undefined if there are members. */
  setupUrl: string | undefined;
  /** Whether someone is an owner of that organization. */
  isOwner: (userId: string) => Promise<boolean>;
  /** Copies the embedded database to a new folder. */
  copyTo: EmbeddedDatabase['copyTo'] | undefined;
  holdDeletes: HeldStore['holdDeletes'];
}

interface Needs extends Pick<ChosenTemporal, 'temporal' | 'searchAttributes'> {
  operatorToken: string;
  sitesPage: Omit<SitesPage, 'organizationId'>;
}

/** Starts the database (embedded unless a variable names one), the Admin API and the platform's worker. */
export async function startOwnPlatform(
  { temporal, searchAttributes, operatorToken, sitesPage }: Needs,
  { settings, home, logger, lifetime }: UpContext,
): Promise<RunningPlatform> {
  const embedded = settings.databaseUrl === undefined ? await startEmbeddedDatabase(home.folder) : undefined;
  if (embedded) {
    lifetime.onStop('embedded database', embedded.stop);
    void embedded.exited.then(() => lifetime.fail(new Error('The embedded database ended by itself')));
  }
  const opened = await openPlatformStore({ settings, home, logger, lifetime, embedded });
  const store = { ...opened, objects: withHeldDeletes(opened.objects) };
  let organizationId: string | undefined;
  const service = await startPlatform({
    ...{ settings, store, temporal, operatorToken, logger, lifetime },
    sitesPage: { ...sitesPage, organizationId: () => organizationId },
  });
  await service.migrated;
  const { publicUrl } = service;
  const worker = { settings, home, publicUrl, store, temporal, searchAttributes, logger, lifetime };
  await startPlatformWorker({ ...worker, isShared: true });
  const admin = adminOnDatabase(store.db, {
    publicUrl,
    openObjects: async () => store.objects,
    exportKeep: settings.exportKeep,
    logger,
  });
  const access = await ensureAdminKey({ admin, url: service.url, home });
  organizationId = (await findKey(store.db, hashApiKey(access.key)))?.organizationId;
  const { holdDeletes } = store.objects;
  const setupUrl = await service.setupUrl;
  const isOwner = async (userId: string): Promise<boolean> =>
    organizationId !== undefined && (await findOwner(store.db, organizationId, userId)) !== undefined;
  return { url: service.url, publicUrl, ...access, admin, setupUrl, isOwner, copyTo: embedded?.copyTo, holdDeletes };
}

interface Platform {
  admin: Admin;
  /** The Admin API's URL. */
  url: string;
  home: Home;
}

/** The orchestrator's key for the embedded platform: stored in GALLEY_HOME, created if it is missing or rejected. */
async function ensureAdminKey({ admin, url, home }: Platform): Promise<Pick<RunningPlatform, 'key' | 'organization'>> {
  const request = { organization: OWN_ORGANIZATION, name: 'orchestrator of up' };
  const kept = await home.readSecret(ADMIN_KEY_FILE);
  // A key that there is stays as it is, with its organization.
  if (kept !== undefined && (await isAccepted(url, kept))) return await admin.createKey({ ...request, key: kept });
  const created = await admin.createKey(request);
  await home.writeSecret(ADMIN_KEY_FILE, created.key);
  return created;
}

async function isAccepted(platformUrl: string, key: string): Promise<boolean> {
  const response = await fetch(new URL('/v1/static-export/jobs?limit=1', platformUrl), {
    headers: { authorization: `Bearer ${key}` },
  });
  await response.arrayBuffer();
  return response.ok;
}
