import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type SeedAdminApi, type SeedAdminApiOptions, startSeedAdminApi } from '../admin-api/seed-admin-api.ts';
import { builtGalley } from './built-product.ts';
import { type Cleanups, startWithCleanups } from './cleanups.ts';
import { type InterceptingProxy, startInterceptingProxy } from './intercepting-proxy.ts';
import { type Orchestrator, type SiteSetup, startOrchestrator } from './orchestrator.ts';
import { createPrograms, type Programs } from './programs.ts';
import { startTemporalServer, type TemporalServer } from './temporal-server.ts';

/** The orchestrator and its deployments with a third-party Admin API. Needs only Node and Temporal. */
export interface SeedSystem extends Orchestrator {
  temporal: TemporalServer;
  /** `api`, `worker` and `deployment-{site}`. */
  programs: Programs;
  adminApi: SeedAdminApi;
  /** Between the orchestrator and the Admin API. */
  proxy: InterceptingProxy;
  stop(): Promise<void>;
}

export interface SeedSystemOptions {
  sites: readonly SiteSetup[];
  adminApi: Omit<SeedAdminApiOptions, 'key'>;
  variables?: Readonly<Record<string, string>>;
}

/** The specification defines no prefix of keys. */
const KEY = 'some-prefix_0123456789';

export async function startSeedSystem(options: SeedSystemOptions): Promise<SeedSystem> {
  return await startWithCleanups(async (cleanups) => await start(options, cleanups));
}

async function start({ sites, adminApi: adminApiOptions, variables = {} }: SeedSystemOptions, cleanups: Cleanups) {
  const galley = await builtGalley();
  const folder = await mkdtemp(join(tmpdir(), 'galley-seed-system-'));
  cleanups.add(() => rm(folder, { recursive: true, force: true, maxRetries: 3 }));
  const temporal = await startTemporalServer(join(folder, 'temporal.db'), variables.TEMPORAL_NAMESPACE);
  cleanups.add(temporal.stop);
  const adminApi = await startSeedAdminApi({ ...adminApiOptions, key: KEY });
  cleanups.add(adminApi.close);
  const proxy = await startInterceptingProxy(adminApi.url);
  cleanups.add(proxy.close);
  const programs = createPrograms(galley);
  cleanups.add(programs.stop);
  const orchestrator = await startOrchestrator({
    folder,
    programs,
    sites,
    variables,
    temporalAddress: temporal.address,
    adminApi: { url: proxy.url, key: KEY },
  });
  for (const { name } of sites) await orchestrator.deploy(name);
  return { ...orchestrator, temporal, programs, adminApi, proxy, stop: cleanups.run };
}
