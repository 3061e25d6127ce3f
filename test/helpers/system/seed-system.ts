import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { buildBundle, siteOf } from '../../deployment/bundles.ts';
import { createFakeAdminApi } from '../admin-api/fake-admin-api.ts';
import { createSeedAgentJobs, type SeedAgentJob } from '../admin-api/seed-agent-jobs.ts';
import { startHttpSite } from '../http-site.ts';
import { builtGalley } from './built-product.ts';
import { type Cleanups, startWithCleanups } from './cleanups.ts';
import { type InterceptingProxy, startInterceptingProxy } from './intercepting-proxy.ts';
import { type Orchestrator, type SiteSetup, startOrchestrator } from './orchestrator.ts';
import { createPrograms, type Programs } from './programs.ts';
import { startTemporalServer, type TemporalServer } from './temporal-server.ts';

interface SeedAdminApiOptions {
  key: string;
  linkTtlMs: number;
  /** A job's status words before `completed`, one per request. */
  statusWords: readonly string[];
  /** The offset of its clock, and so of its dates, from ours. */
  clockSkewMs?: number;
}

interface SeedAdminApi {
  url: string;
  /** Sets the content of exports that start from now on. */
  edit(domain: string, edition: string): void;
  /** The editions of a domain's exports, oldest first. */
  exports(domain: string): string[];
  /** The number of bundle links that were created. */
  bundles(domain: string): number;
  /** The agent jobs, oldest first. */
  agentJobs(): readonly SeedAgentJob[];
  close(): Promise<void>;
}

/** The specification does not say which 2xx means success, so the API uses several. */
const SUCCESSES = [200, 201, 202, 203, 207, 226] as const;

/** The formats that RFC 3339 allows for an instant (milliseconds since 1970). */
const RFC_3339_SPELLINGS: readonly ((atMs: number) => string)[] = [
  (atMs) => new Date(atMs).toISOString(),
  // Lower case, as RFC 3339 section 5.6 allows.
  (atMs) => new Date(atMs).toISOString().toLowerCase(),
  // A space for the T, "for the sake of readability", and no fraction.
  (atMs) => new Date(atMs).toISOString().replace('T', ' ').replace(/\.\d+/, ''),
  // Nanoseconds.
  (atMs) => new Date(atMs).toISOString().replace('Z', '123456Z'),
  // Another zone.
  (atMs) => new Date(atMs + 5.5 * 3_600_000).toISOString().replace('Z', '+05:30'),
  // An unknown zone.
  (atMs) => new Date(atMs).toISOString().replace('Z', '-00:00'),
];

/**
 * An Admin API with only the endpoints and fields of the specification: no idempotency, list, cancel, sizes or hashes.
 * It has opaque job ids, its own clock, and dates in every RFC 3339 format.
 */
export async function startSeedAdminApi(options: SeedAdminApiOptions): Promise<SeedAdminApi> {
  const { key, linkTtlMs, statusWords, clockSkewMs = 0 } = options;
  const now = (): number => Date.now() + clockSkewMs;
  const words = new Map<string, string[]>();
  const editions = new Map<string, string>();
  const editionOf = new Map<string, string>();
  const linksByPath = new Map<string, { jobId: string; expiresAtMs: number }>();
  const agents = createSeedAgentJobs(statusWords);
  let successes = 0;
  const api = createFakeAdminApi({
    key,
    clock: now,
    contentType: 'text/plain',
    success: () => SUCCESSES[++successes % SUCCESSES.length] ?? 200,
    error: (message) => `<h1>${message}</h1>`,
    jobId: (number, domain) => `job №${number}/${domain}`,
    started({ jobId, domain }) {
      words.set(jobId, [...statusWords]);
      editionOf.set(jobId, editions.get(domain) ?? 'none');
      return { jobId };
    },
    read({ jobId }) {
      const left = words.get(jobId) ?? [];
      const status = left.shift() ?? 'completed';
      const odd = left.length % 2 === 0;
      return { status, progress: odd ? '37 %' : 0.5, pageCount: odd ? null : 12, extra: [{}] };
    },
    bundleUrl({ jobId }, expiresAtMs) {
      const path = `/bundles/${randomBytes(8).toString('hex')}`;
      linksByPath.set(path, { jobId, expiresAtMs });
      return site.origin + path;
    },
    bundle({ job, url, expiresAtMs }) {
      const spelling = RFC_3339_SPELLINGS[api.links(job.domain).length % RFC_3339_SPELLINGS.length];
      return { bundleUrl: url, expiresAt: spelling?.(expiresAtMs) };
    },
    other({ method, path, body }) {
      const found = agents.answer(method, path, body);
      return found && { status: found.status, body: JSON.stringify(found.body) };
    },
  });
  Object.assign(api.behaviour, { linkLifetimeMs: linkTtlMs, canCancel: false, canList: false, oneAtATime: false });

  const site = await startHttpSite(async (request, response) => {
    const link = linksByPath.get(request.url ?? '');
    if (link === undefined) return await api.handle(request, response, await text(request));
    if (now() > link.expiresAtMs) response.writeHead(403).end('<Error><Code>AccessDenied</Code></Error>');
    else response.end(await buildBundle(siteOf(editionOf.get(link.jobId) ?? '')));
  });

  return {
    url: site.origin,
    edit: (domain, edition) => {
      editions.set(domain, edition);
    },
    exports: (domain) => api.jobs.filter((job) => job.domain === domain).map(({ jobId }) => editionOf.get(jobId) ?? ''),
    bundles: (domain) => api.links(domain).length,
    agentJobs: () => agents.jobs,
    close: site.close,
  };
}

/** The orchestrator and its deployments with a third-party Admin API. Needs only Node and Temporal. */
export interface HostedSystem<Api> extends Orchestrator {
  temporal: TemporalServer;
  /** `api`, `worker` and `deployment-{site}`. */
  programs: Programs;
  adminApi: Api;
  /** Between the orchestrator and the Admin API. */
  proxy: InterceptingProxy;
  stop(): Promise<void>;
}

export type SeedSystem = HostedSystem<SeedAdminApi>;

interface HostedSystemOptions {
  sites: readonly SiteSetup[];
  variables?: Readonly<Record<string, string>>;
}

/** The specification defines no prefix of keys. */
export const HOSTED_KEY = 'some-prefix_0123456789';

export async function startSeedSystem({
  adminApi,
  ...options
}: HostedSystemOptions & { adminApi: Omit<SeedAdminApiOptions, 'key'> }): Promise<SeedSystem> {
  return await startHostedSystem({ ...options, startApi: () => startSeedAdminApi({ ...adminApi, key: HOSTED_KEY }) });
}

/** @param startApi starts the service, whose key is `HOSTED_KEY` */
export async function startHostedSystem<Api extends { url: string; close(): Promise<void> }>(
  options: HostedSystemOptions & { startApi: () => Promise<Api> },
): Promise<HostedSystem<Api>> {
  return await startWithCleanups(async (cleanups) => await start(options, cleanups));
}

async function start<Api extends { url: string; close(): Promise<void> }>(
  { sites, startApi, variables = {} }: HostedSystemOptions & { startApi: () => Promise<Api> },
  cleanups: Cleanups,
): Promise<HostedSystem<Api>> {
  const galley = await builtGalley();
  const folder = await mkdtemp(join(tmpdir(), 'galley-seed-system-'));
  cleanups.add(() => rm(folder, { recursive: true, force: true, maxRetries: 3 }));
  const temporal = await startTemporalServer(join(folder, 'temporal.db'), variables.TEMPORAL_NAMESPACE);
  cleanups.add(temporal.stop);
  const adminApi = await startApi();
  cleanups.add(adminApi.close);
  const proxy = await startInterceptingProxy(adminApi.url);
  cleanups.add(proxy.close);
  const programs = createPrograms(galley);
  cleanups.add(programs.stop);
  const orchestrator = await startOrchestrator({
    ...{ folder, programs, sites, variables },
    temporalAddress: temporal.address,
    adminApi: { url: proxy.url, key: HOSTED_KEY },
  });
  for (const { name } of sites) await orchestrator.deploy(name);
  return { ...orchestrator, temporal, programs, adminApi, proxy, stop: cleanups.run };
}
