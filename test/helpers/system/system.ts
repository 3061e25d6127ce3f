import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ExportJob } from '../../../client/admin-api-client.ts';
import { startPostgres } from '../postgres.ts';
import { builtGalley } from './built-product.ts';
import { type Cleanups, startWithCleanups } from './cleanups.ts';
import { type InterceptingProxy, startInterceptingProxy } from './intercepting-proxy.ts';
import { fileStorage, startS3Storage } from './object-storage.ts';
import { type Orchestrator, type SiteSetup, startOrchestrator } from './orchestrator.ts';
import { type OriginSite, page, startOriginSite } from './origin-site.ts';
import { type PlatformService, startPlatformService } from './platform-service.ts';
import { createPrograms, type Programs } from './programs.ts';
import { startUnsyncedTemporal, type TemporalServer } from './temporal-server.ts';

export interface SystemOptions {
  /** Each site's `export` section. Every site has an origin, a project, a values file and a deployment. */
  sites: Readonly<Record<string, NonNullable<SiteSetup['export']>>>;
  objects?: 'files' | 's3';
  /** Variables of every program, such as BUNDLE_LINK_TTL. */
  variables?: Readonly<Record<string, string>>;
}

/** The whole product as operators run it: every part in a separate process, with real HTTP between them. */
export interface System extends Orchestrator {
  temporal: TemporalServer;
  platform: PlatformService;
  /** `platform`, `platform-worker`, `api`, `worker` and `deployment-{site}`. */
  programs: Programs;
  /** Between the orchestrator and the platform. */
  proxy: InterceptingProxy;
  key: { id: string; key: string };
  origin(site: string): OriginSite;
  /** The platform's own list of the site's exports, newest first. */
  jobs(site: string): Promise<ExportJob[]>;
  stop(): Promise<void>;
}

/** A page of every origin, linked from the start page, whose response tests can hold. */
export const SLOW_PAGE = '/slow';

/** The start page of an origin. */
export function edition(text: string): string {
  return page(text, [SLOW_PAGE]);
}

export async function startSystem(options: SystemOptions): Promise<System> {
  return await startWithCleanups(async (cleanups) => await start(options, cleanups));
}

async function start({ sites, objects = 'files', variables = {} }: SystemOptions, cleanups: Cleanups): Promise<System> {
  const galley = await builtGalley();
  const folder = await mkdtemp(join(tmpdir(), 'galley-system-'));
  cleanups.add(() => rm(folder, { recursive: true, force: true, maxRetries: 3 }));
  const postgres = await startPostgres();
  cleanups.add(postgres.stop);
  const temporal = await startUnsyncedTemporal(cleanups);
  const storage = objects === 's3' ? await startS3Storage(cleanups) : fileStorage(folder);
  const programs = createPrograms(galley);
  cleanups.add(programs.stop);

  const { address: temporalAddress } = temporal;
  const platform = await startPlatformService({
    ...{ folder, programs, galley, temporalAddress },
    variables: { ...variables, ...storage.variables },
    databaseUrl: postgres.url,
    objectStoreUrl: storage.url,
  });
  const proxy = await startInterceptingProxy(platform.url);
  cleanups.add(proxy.close);
  const key = await platform.createKey();
  const origins = new Map<string, OriginSite>();
  const names = Object.keys(sites);
  await Promise.all(
    names.map(async (name) => {
      const origin = await startOriginSite({ '/': edition('edition 1'), [SLOW_PAGE]: page('slow') });
      cleanups.add(origin.close);
      origins.set(name, origin);
      await platform.addProject({ name, domain: domainOf(name), origin: origin.origin });
    }),
  );
  const orchestrator = await startOrchestrator({
    ...{ folder, programs, temporalAddress, variables },
    sites: Object.entries(sites).map(([name, settings]) => ({ name, domain: domainOf(name), export: settings })),
    adminApi: { url: proxy.url, key: key.key },
  });
  await Promise.all(names.map((name) => orchestrator.deploy(name)));

  return {
    ...orchestrator,
    ...{ temporal, platform, programs, proxy, key },
    origin: (site) => {
      const origin = origins.get(site);
      if (origin === undefined) throw new Error(`The system was started without a site ${site}`);
      return origin;
    },
    jobs: async (site) => await platform.jobs(domainOf(site), key.key),
    stop: cleanups.run,
  };
}

export function domainOf(site: string): string {
  return `${site}.example.test`;
}
