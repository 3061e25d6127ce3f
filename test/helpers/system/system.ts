import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ExportJob } from '../../../contract/admin-api.ts';
import { startPostgres } from '../postgres.ts';
import { type AdminProxy, startAdminProxy } from './admin-proxy.ts';
import { builtGalley } from './built-product.ts';
import { type Cleanups, createCleanups } from './cleanups.ts';
import { type Orchestrator, type SiteSetup, startOrchestrator } from './orchestrator.ts';
import { type OriginSite, page, startOriginSite } from './origin-site.ts';
import { type PlatformService, startPlatformService } from './platform-service.ts';
import { createPrograms, type Programs } from './programs.ts';
import { startTemporalServer, type TemporalServer } from './temporal-server.ts';

export interface SystemOptions {
  /** Names of the sites, each with its origin, project, values file and deployment; and keys of their `export` section. */
  sites: Readonly<Record<string, SiteSetup['export']>>;
  /** For every program, such as BUNDLE_LINK_TTL. */
  variables?: Readonly<Record<string, string>>;
}

/** The whole product as operators run it: every part a process of its own, real HTTP between them. */
export interface System extends Orchestrator {
  temporal: TemporalServer;
  platform: PlatformService;
  /** `platform`, `platform-worker`, `api`, `worker` and `deployment-{site}`. */
  programs: Programs;
  /** Between the orchestrator and the platform. */
  proxy: AdminProxy;
  key: { id: string; key: string };
  origin(site: string): OriginSite;
  /** The platform's own list of the site's exports, newest first. */
  jobs(site: string): Promise<ExportJob[]>;
  stop(): Promise<void>;
}

/** Pages of a fresh origin: the start page, one that tests hold, one that nobody links to. */
export const SLOW_PAGE = '/slow';

export async function startSystem(options: SystemOptions): Promise<System> {
  const cleanups = createCleanups();
  try {
    return await start(options, cleanups);
  } catch (error) {
    await cleanups.run();
    throw error;
  }
}

async function start({ sites, variables = {} }: SystemOptions, cleanups: Cleanups): Promise<System> {
  const names = Object.keys(sites);
  const galley = await builtGalley();
  const folder = await mkdtemp(join(tmpdir(), 'galley-system-'));
  cleanups.add(() => rm(folder, { recursive: true, force: true, maxRetries: 3 }));
  const [postgres, temporal] = await Promise.all([startPostgres(), startTemporalServer(join(folder, 'temporal.db'))]);
  cleanups.add(postgres.stop);
  cleanups.add(temporal.stop);
  const programs = createPrograms(galley);
  cleanups.add(programs.stop);

  const { address: temporalAddress } = temporal;
  const shared = { folder, programs, temporalAddress, variables };
  const platform = await startPlatformService({ ...shared, galley, databaseUrl: postgres.url });
  const proxy = await startAdminProxy(() => platform.url);
  cleanups.add(proxy.close);
  const key = await platform.createKey();
  const origins = new Map<string, OriginSite>();
  for (const name of names) {
    const origin = await startOriginSite({ '/': page('first edition', [SLOW_PAGE]), [SLOW_PAGE]: page('slow') });
    cleanups.add(origin.close);
    origins.set(name, origin);
    await platform.addProject({ name, domain: domainOf(name), origin: origin.origin });
  }
  const orchestrator = await startOrchestrator({
    ...shared,
    sites: Object.entries(sites).map(([name, settings]) => ({
      name,
      domain: domainOf(name),
      ...(settings === undefined ? {} : { export: settings }),
    })),
    adminApi: { url: proxy.url, key: key.key },
  });
  for (const name of names) await orchestrator.deploy(name);

  return {
    ...orchestrator,
    temporal,
    platform,
    programs,
    proxy,
    key,
    origin: (site) => {
      const origin = origins.get(site);
      if (origin === undefined) throw new Error(`The system was started without a site ${site}`);
      return origin;
    },
    jobs: async (site) => await platform.jobs(domainOf(site), key.key),
    stop: cleanups.run,
  };
}

function domainOf(site: string): string {
  return `${site}.example.test`;
}
