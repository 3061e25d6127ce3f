import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { parseDocument } from 'yaml';
import { withFileLock } from '../../activities/deployments/file-lock.ts';
import { replaceFile } from '../../base/replace-file.ts';
import type { ExportJob } from '../../client/admin-api-client.ts';
import { findSecrets } from '../helpers/find-secrets.ts';
import { freePort } from '../helpers/free-port.ts';
import { POSTGRES_PASSWORD, startPostgres } from '../helpers/postgres.ts';
import { startS3, type TestS3 } from '../helpers/s3.ts';
import { builtGalley } from '../helpers/system/built-product.ts';
import { type Cleanups, startWithCleanups } from '../helpers/system/cleanups.ts';
import { startInterceptingProxy } from '../helpers/system/intercepting-proxy.ts';
import { fileStorage, type ObjectStorage } from '../helpers/system/object-storage.ts';
import {
  CONTENTFUL_SECRET,
  OPERATOR_TOKEN,
  type Orchestrator,
  type SiteSetup,
  startOrchestrator,
} from '../helpers/system/orchestrator.ts';
import { type OriginSite, startOriginSite } from '../helpers/system/origin-site.ts';
import { startPlatformService } from '../helpers/system/platform-service.ts';
import { createPrograms, type Programs } from '../helpers/system/programs.ts';
import { domainOf } from '../helpers/system/system.ts';
import { startUnsyncedTemporal } from '../helpers/system/temporal-server.ts';
import { startToxiproxy, type Toxiproxy } from '../helpers/toxiproxy.ts';
import { type Plan, SITES, type Site } from './choose.ts';
import { editionPages } from './editions.ts';
import {
  adminApiVictim,
  allDisksVictim,
  diskVictim,
  originVictim,
  programVictim,
  serverVictim,
  temporalVictim,
  type Victim,
} from './faults.ts';
import type { PlaceSetup } from './history.ts';
import { type SecondPlace, startSecondPlace } from './places.ts';
import { serverReader } from './visitors.ts';

/** The whole product in real processes, with a proxy in front of every server that they use. */
export type World = {
  orchestrator: Orchestrator;
  programs: Programs;
  origins: ReadonlyMap<string, OriginSite>;
  victims: ReadonlyMap<string, Victim>;
  places: readonly (PlaceSetup & Pick<SecondPlace, 'read' | 'merge'>)[];
  /** What an operator sends to a site. */
  steer(site: string, action: string, body?: object): Promise<Response>;
  /** Sets or removes the pin in the site's values file, as an operator does. */
  pin(site: string, version: string | null): Promise<void>;
  jobs(site: string): Promise<ExportJob[]>;
  /** Rows of exports that ended, and secrets in logs. */
  leftovers(): Promise<string[]>;
  /** Restarts the programs that still run the build of the start. Returns their names. */
  upgrade(): Promise<string[]>;
  stop(): Promise<void>;
};

/** Links are refreshed every few seconds. */
const LINKS = { BUNDLE_LINK_TTL: '30s', MIN_REFRESH_INTERVAL: '1s' };
const EXPORT = { quietPeriod: '200ms', maxWait: '2s', refreshMargin: '50%' };

/** @param from the folder of another build, which programs run until they are restarted */
export async function startWorld(plan: Plan, from?: string): Promise<World> {
  return await startWithCleanups(async (cleanups) => {
    const galley = await builtGalley();
    const { folder, clocks, isDisk } = await makeFolders(cleanups);
    const toxiproxy = await startToxiproxy();
    cleanups.add(toxiproxy.stop);
    const servers = await startServers(plan, folder, toxiproxy, cleanups);
    const first = from === undefined ? galley : join(from, 'dist', 'cli', 'main.js');
    const clock = { NODE_OPTIONS: `--import=${new URL('shifted-clock.js', import.meta.url)}`, CLOCKS: clocks };
    const programs = createPrograms(first, clock, galley);
    cleanups.add(programs.stop);
    const origins = await startOrigins(cleanups);
    const platform = await startPlatformService({
      ...{ folder, programs, galley: first, temporalAddress: servers.temporalAddress },
      variables: { ...LINKS, ...servers.storage.variables },
      databaseUrl: servers.databaseUrl,
      objectStoreUrl: servers.storage.url,
    });
    const adminApi = await startInterceptingProxy(platform.url);
    cleanups.add(adminApi.close);
    const { key } = await platform.createKey();
    for (const [name, { origin }] of origins) await platform.addProject({ name, domain: domainOf(name), origin });

    const homes = join(folder, 'homes');
    const sites = new Map<string, SiteParts>();
    const shared = { folder, homes, programs, cleanups, s3: servers.s3 };
    for (const site of SITES) sites.set(site, await prepareSite(plan, site, shared));
    const parts = [...sites.values()];
    const orchestrator = await startOrchestrator({
      ...{ folder, programs, variables: LINKS, temporalAddress: servers.temporalAddress },
      sites: parts.map(({ setup }) => setup),
      adminApi: { url: adminApi.url, key },
    });
    await Promise.all(parts.map(({ setup, port }) => orchestrator.deploy(setup.name, port)));

    const victims = new Map<string, Victim>([...servers.victims, ['admin-api', adminApiVictim(adminApi)]]);
    const temporal = victims.get('temporal');
    if (temporal !== undefined) victims.set('temporal', temporalVictim(temporal, programs));
    for (const [site, origin] of origins) victims.set(`origin-${site}`, originVictim(origin));
    for (const name of programs.names()) {
      // Both platform programs run on one machine.
      const home = name.startsWith('platform') ? 'platform' : name;
      victims.set(name, programVictim(programs, name, join(clocks, home)));
    }
    const started = programs.names().flatMap((name) => victims.get(name) ?? []);
    victims.set('disk', isDisk ? diskVictim(folder) : allDisksVictim(started));
    const old = new Map(from === undefined ? [] : programs.names().map((name) => [name, programs.get(name).pid]));
    const secrets = { key, OPERATOR_TOKEN, CONTENTFUL_SECRET, POSTGRES_PASSWORD };
    return {
      ...{ orchestrator, programs, origins, victims, places: parts.flatMap((part) => part.places) },
      steer: (site, action, body) => steer(orchestrator.url, site, action, body),
      pin: (site, version) => pin(orchestrator.valuesFile(site), version),
      jobs: (site) => platform.jobs(domainOf(site), key),
      leftovers: async () => [...(await leftRows(servers.realDatabaseUrl)), ...secretsInLogs(programs, secrets)],
      async upgrade() {
        const left = [...old].flatMap(([name, pid]) => (programs.get(name).pid === pid ? [name] : []));
        for (const name of left) await programs.restart(name);
        return left;
      },
      stop: cleanups.run,
    };
  });
}

const run = promisify(execFile);

/** Far more than a round writes. */
const DISK_BYTES = 256 * 1024 ** 2;

/** A disk of its own, if this user may mount one, for everything that programs write, and a folder for their clocks. */
async function makeFolders(cleanups: Cleanups) {
  const parent = await mkdtemp(join(tmpdir(), 'galley-chaos-'));
  cleanups.add(() => rm(parent, { recursive: true, force: true, maxRetries: 3 }));
  const [folder, clocks] = [join(parent, 'disk'), join(parent, 'clocks')];
  for (const each of [folder, clocks]) await mkdir(each);
  const mounting = run('mount', ['-t', 'tmpfs', '-o', `size=${DISK_BYTES}`, 'tmpfs', folder]);
  const isDisk = await mounting.then(
    () => true,
    () => false,
  );
  if (isDisk) cleanups.add(() => run('umount', ['--lazy', folder]));
  return { folder, clocks, isDisk };
}

type Servers = {
  temporalAddress: string;
  databaseUrl: string;
  realDatabaseUrl: string;
  storage: ObjectStorage;
  /** `url` leads through the proxy. */
  s3?: { server: TestS3; url: string };
  victims: [string, Victim][];
};

/** Temporal, PostgreSQL and the object store; programs reach them through proxies. */
async function startServers(plan: Plan, folder: string, toxiproxy: Toxiproxy, cleanups: Cleanups): Promise<Servers> {
  const postgres = await startPostgres();
  cleanups.add(postgres.stop);
  const temporal = await startUnsyncedTemporal(cleanups);
  const beforeTemporal = await toxiproxy.proxy('temporal', temporal.address);
  const databaseUrl = new URL(postgres.url);
  const beforePostgres = await toxiproxy.proxy('postgres', databaseUrl.host);
  databaseUrl.host = beforePostgres.address;
  // Not on the disk that is full at times.
  const restorable = (data: string) => ({ data, copy: join(dirname(folder), `copy-of-${basename(data)}`) });
  const servers = {
    temporalAddress: beforeTemporal.address,
    databaseUrl: databaseUrl.href,
    realDatabaseUrl: postgres.url,
    victims: [
      ['temporal', serverVictim(temporal, beforeTemporal, restorable(dirname(temporal.dbFilename)))],
      ['postgres', serverVictim(postgres, beforePostgres, restorable(postgres.data))],
    ] satisfies Servers['victims'],
  };
  if (plan.objects === 'files') return { ...servers, storage: fileStorage(folder) };
  const s3 = await startS3();
  cleanups.add(s3.stop);
  const beforeS3 = await toxiproxy.proxy('s3', new URL(s3.endpoint).host);
  const { accessKeyId, secretAccessKey } = s3.credentials;
  const url = s3.url.replace(encodeURIComponent(s3.endpoint), encodeURIComponent(`http://${beforeS3.address}`));
  return {
    ...servers,
    victims: [...servers.victims, ['s3', serverVictim(s3, beforeS3)]],
    s3: { server: s3, url },
    storage: {
      url,
      variables: { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey },
    },
  };
}

async function startOrigins(cleanups: Cleanups): Promise<Map<string, OriginSite>> {
  const origins = new Map<string, OriginSite>();
  for (const site of SITES) {
    const origin = await startOriginSite(editionPages(site, 0));
    cleanups.add(origin.close);
    origins.set(site, origin);
  }
  return origins;
}

type Place = World['places'][number];
type SiteParts = { setup: SiteSetup; port: number; places: Place[] };

/** A values file with a real deployment, and a second deployment that waits for it, or for an approval. */
async function prepareSite(plan: Plan, site: Site, shared: Parameters<typeof startSecondPlace>[2]): Promise<SiteParts> {
  const { whenBusy, rollback, second } = plan.sites[site];
  const port = await freePort();
  const name = `deployment-${site}`;
  const url = `http://127.0.0.1:${port}`;
  const approve = site === 'manual' && second !== 'merge';
  const awaits = second === 'merge' ? second : approve ? 'approve' : null;
  const wave = site === 'manual' ? 1 : 2;
  const { entry, ...place } = await startSecondPlace(second, site, shared);
  const secondName = `${second}-${site}`;
  return {
    port,
    setup: {
      name: site,
      domain: domainOf(site),
      export: { ...EXPORT, whenBusy, ...(site === 'manual' ? { guards: {} } : {}) },
      target: { name, statusUrl: `${url}/-/status`, confirmWithin: '15s', rollback },
      deployments: [{ ...entry, name: secondName, ...(approve && { approve }), wave }],
    },
    places: [
      { name, site, kind: 'valuesFile', awaits: null, wave: 1, read: serverReader(url) },
      { name: secondName, site, kind: second, awaits, wave, ...place },
    ],
  };
}

async function steer(url: string, site: string, action: string, body?: object): Promise<Response> {
  return await fetch(`${url}/sites/${site}/${action}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${OPERATOR_TOKEN}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
}

async function pin(valuesFile: string, version: string | null): Promise<void> {
  await withFileLock(valuesFile, async (stillHeld) => {
    const values = parseDocument(await readFile(valuesFile, 'utf8'));
    if (version === null) values.deleteIn(['staticExport', 'version']);
    else values.setIn(['staticExport', 'version'], version);
    await replaceFile(valuesFile, values.toString(), { lastCheck: stillHeld });
  });
}

/** Of exports that have ended without a bundle. */
const LEFT_ROWS = `
  select 'the crawl of the ended job ' || c.job_id as left from crawls c join export_jobs j on j.id = c.job_id
  where j.status = 'failed'`;

async function leftRows(databaseUrl: string): Promise<string[]> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    return (await client.query<{ left: string }>(LEFT_ROWS)).rows.map(({ left }) => left);
  } finally {
    await client.end();
  }
}

function secretsInLogs(programs: Programs, secrets: Readonly<Record<string, string>>): string[] {
  return programs
    .names()
    .flatMap((name) =>
      findSecrets(programs.lines(name).join('\n'), secrets).map(
        (secret) => `the log of ${name} has the secret ${secret}`,
      ),
    );
}
