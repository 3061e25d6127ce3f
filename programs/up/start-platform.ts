import { type GalleyConfig, PROJECT_KEYS, type SiteConfig } from '../../contract/galley-config.ts';
import { type EmbeddedDatabase, startEmbeddedDatabase } from '../../embedded/database/embedded-database.ts';
import { type Admin, adminOnDatabase } from '../../platform/admin/admin.ts';
import { type HeldStore, withHeldDeletes } from '../../platform/objects/hold-deletes.ts';
import { openPlatformStore } from '../parts/platform-store.ts';
import { startPlatform } from '../platform.ts';
import { startPlatformWorker } from '../platform-worker.ts';
import { ADMIN_KEY_FILE, type Home } from '../process/home.ts';
import type { ChosenTemporal, UpContext } from './choose-temporal.ts';

/** A running platform with everything it needs. */
interface RunningPlatform {
  url: string;
  /** The first organization's access to its Admin API. */
  key: string;
  admin: Admin;
  /** The first administrator's link to the dashboard; undefined if there are members. */
  setupUrl: string | undefined;
  /** Copies the embedded database to a new folder. */
  copyTo: EmbeddedDatabase['copyTo'] | undefined;
  holdDeletes: HeldStore['holdDeletes'];
}

interface Needs extends Pick<ChosenTemporal, 'temporal' | 'searchAttributes'> {
  operatorToken: string;
}

/** Starts the database (embedded unless a variable names one), the Admin API and the platform's worker. */
export async function startOwnPlatform(
  { temporal, searchAttributes, operatorToken }: Needs,
  { settings, home, logger, lifetime }: UpContext,
): Promise<RunningPlatform> {
  const embedded = settings.databaseUrl === undefined ? await startEmbeddedDatabase(home.folder) : undefined;
  if (embedded) {
    lifetime.onStop('embedded database', embedded.stop);
    void embedded.exited.then(() => lifetime.fail(new Error('The embedded database ended by itself')));
  }
  const opened = await openPlatformStore({ settings, home, logger, lifetime, embedded });
  const store = { ...opened, objects: withHeldDeletes(opened.objects) };
  const service = await startPlatform({ settings, store, temporal, operatorToken, logger, lifetime });
  await service.migrated;
  const publicUrl = settings.platformPublicUrl ?? service.url;
  const worker = { settings, home, publicUrl, store, temporal, searchAttributes, logger, lifetime };
  await startPlatformWorker({ ...worker, isShared: true });
  const admin = adminOnDatabase(store.db, {
    publicUrl,
    openObjects: async () => store.objects,
    exportKeep: settings.exportKeep,
    logger,
  });
  const key = await ensureAdminKey({ admin, url: service.url, home });
  const { holdDeletes } = store.objects;
  return { url: service.url, key, admin, setupUrl: await service.setupUrl, copyTo: embedded?.copyTo, holdDeletes };
}

const ORGANIZATION = 'galley';

interface Platform {
  admin: Admin;
  /** The Admin API's URL. */
  url: string;
  home: Home;
}

/** The orchestrator's key for the embedded platform: stored in GALLEY_HOME, created if it is missing or rejected. */
async function ensureAdminKey({ admin, url, home }: Platform): Promise<string> {
  const kept = await home.readSecret(ADMIN_KEY_FILE);
  if (kept !== undefined && (await isAccepted(url, kept))) return kept;
  const { key } = await admin.createKey({ organization: ORGANIZATION, name: 'orchestrator of up' });
  await home.writeSecret(ADMIN_KEY_FILE, key);
  return key;
}

/**
 * Creates missing projects of sites; returns the sites with their project ids. A project gets the site's `origin`, and
 * the project's settings of its `export`. What galley.yaml doesn't name stays as an operator set it: a domain has one project.
 */
export async function ensureProjects(admin: Admin, sites: GalleyConfig['sites']): Promise<GalleyConfig['sites']> {
  const ensured: [string, SiteConfig][] = [];
  for (const [name, site] of Object.entries(sites)) {
    const { domain, origin, projectId, export: exported } = site;
    const { search, markdown, prove } = exported;
    const project = { domain, origin, settings: { search, markdown, prove }, id: projectId ?? projectIdOf(name) };
    ensured.push([name, { ...site, projectId: await ensureProject(admin, project) }]);
  }
  return Object.fromEntries(ensured);
}

/** What galley.yaml may set of a project. */
type OwnSettings = Pick<SiteConfig['export'], (typeof PROJECT_KEYS)[number]>;

/** The id of the first organization's project of that domain; creates the project, or moves one to the domain. */
export async function ensureProject(
  admin: Admin,
  given: { domain: string; origin?: string | undefined; settings?: OwnSettings; id?: string },
): Promise<string> {
  const { domain, origin, settings = {}, id = projectIdOf(domain) } = given;
  const named = PROJECT_KEYS.filter((key) => settings[key] !== undefined);
  const change = {
    ...(origin === undefined ? {} : { origin }),
    ...(named.length === 0 ? {} : { settings }),
  };
  const known = await admin.listProjects({ organization: ORGANIZATION });
  const existing = known.find((project) => project.domain === domain);
  if (existing) {
    const isMoved = origin !== undefined && existing.origin !== origin;
    if (isMoved || named.some((key) => existing.settings[key] !== settings[key]))
      await admin.setProject({ project: existing.project, ...change });
    return existing.project;
  }
  if (known.some(({ project }) => project === id)) await admin.setProject({ project: id, domain, ...change });
  else await admin.addProject({ organization: ORGANIZATION, project: id, domain, ...change });
  return id;
}

/** A project id may have 60 characters after its prefix, none of them a dot. */
function projectIdOf(name: string): string {
  return `prj_${name.replace(/[^A-Za-z0-9_-]/g, '-').slice(0, 60)}`;
}

async function isAccepted(platformUrl: string, key: string): Promise<boolean> {
  const response = await fetch(new URL('/v1/static-export/jobs?limit=1', platformUrl), {
    headers: { authorization: `Bearer ${key}` },
  });
  await response.arrayBuffer();
  return response.ok;
}
