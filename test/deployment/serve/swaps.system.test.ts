import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Pool } from 'undici';
import { quarters } from '../../../bench/storm/memory.ts';
import { type HttpSite, startHttpSite } from '../../helpers/http-site.ts';
import { builtGalley } from '../../helpers/system/built-product.ts';
import { createPrograms, type Programs } from '../../helpers/system/programs.ts';
import { waitFor } from '../../helpers/system/wait-for.ts';
import { type BundleSpec, buildBundle, sha256, siteOf } from '../bundles.ts';

const SWAPS = 200;
const VISITORS = 64;
const TIMEOUT_MS = 1_500_000;

/** Allowed growth between the medians of several measurements, because of uncollected garbage. */
const MEMORY_GROWTH = 1.25;

const PATHS = ['/', '/guides/', ...Array.from({ length: 8 }, (_, index) => `/guides/page-${index}`)];

/** A site whose pages repeat the version. A hashed and an unhashed asset exist only in this version. */
function versionSite(version: number): BundleSpec {
  const page = `<title>version ${version}</title>${`<p>version ${version}</p>`.repeat(300)}`;
  const pages = PATHS.map((path) => [`${path.slice(1)}${path.endsWith('/') ? 'index' : ''}.html`, page]);
  const { hashed, unhashed } = assetsOf(version);
  return siteOf(String(version), {
    ...Object.fromEntries(pages),
    [hashed]: `hashed ${version}`,
    [unhashed]: `unhashed ${version}`,
  });
}

function assetsOf(version: number): { hashed: string; unhashed: string } {
  const hash = sha256(`a${version}`)
    .replace(/^[0-9]+/, 'a')
    .slice(0, 7);
  return { hashed: `assets/app.${hash}a1.js`, unhashed: `images/photo-of-${version}.json` };
}

let folder: string;
let programs: Programs;
let store: HttpSite;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'galley-swaps-'));
  programs = createPrograms(await builtGalley());
}, TIMEOUT_MS);
afterAll(async () => {
  await programs.stop();
  await store.close();
  await rm(folder, { recursive: true, force: true });
});

type Visits = { failures: string[]; pages: number; views: number[]; stop(): Promise<void> };

/** Visitors that open pages without pause, each on a separate connection: a page first, then its version's assets. */
function visit(url: string): Visits {
  const pool = new Pool(url, { connections: VISITORS, pipelining: 1 });
  const visits = { failures: [] as string[], pages: 0, views: new Array<number>(VISITORS).fill(0) };
  let done = false;
  const get = async (path: string): Promise<string> => {
    const { statusCode, body } = await pool.request({ path, method: 'GET' });
    const text = await body.text();
    if (statusCode !== 200) visits.failures.push(`${path}: ${statusCode}`);
    return text;
  };
  const view = async (path: string): Promise<void> => {
    const text = await get(path);
    const versions = new Set(Array.from(text.matchAll(/version (\d+)/g), ([, version]) => Number(version)));
    const [version = -1] = versions;
    if (versions.size !== 1) visits.failures.push(`${path} mixes the versions ${[...versions]}`);
    const { hashed, unhashed } = assetsOf(version);
    const files = [await get(`/${hashed}`), await get(`/${unhashed}`)];
    if (files.join() !== `hashed ${version},unhashed ${version}`) visits.failures.push(`version ${version}: ${files}`);
    visits.pages += 1;
  };
  const visitor = async (_: unknown, index: number): Promise<void> => {
    for (let count = index; !done; count += 1) {
      visits.views[index] = (visits.views[index] ?? 0) + 1;
      const path = PATHS[count % PATHS.length] ?? '/';
      await view(path).catch((error: unknown) => void visits.failures.push(`${path}: ${error}`));
    }
  };
  const all = Promise.all(Array.from({ length: VISITORS }, visitor));
  return Object.assign(visits, {
    stop: async () => {
      done = true;
      await all;
      await pool.close();
    },
  });
}

test(
  `${SWAPS} swaps under ${VISITORS} connections fail no request, mix no versions and leave memory flat`,
  async () => {
    let bundle = await buildBundle(versionSite(0));
    store = await startHttpSite((_request, response) => response.end(bundle));
    const valuesFile = join(folder, 'values.yaml');
    const deploy = async (version: number): Promise<void> => {
      bundle = await buildBundle(versionSite(version));
      const values = { staticExport: { enabled: true, bundleUrl: `${store.origin}/${version}` } };
      await writeFile(`${valuesFile}.new`, JSON.stringify(values));
      await rename(`${valuesFile}.new`, valuesFile);
    };
    await deploy(0);
    const variables = { GALLEY_HOME: join(folder, 'home'), DEPLOYMENT_PORT: '0' };
    const { url: ready } = await programs.start({
      name: 'deployment',
      args: ['deployment', '--values', valuesFile],
      variables,
    });
    const url = /http\S+/.exec(ready)?.[0] ?? '';
    const served = async (version: number): Promise<boolean> => {
      const status = await fetch(`${url}/-/status`).then((response) => response.json());
      return status.version === String(version);
    };
    await waitFor(() => served(0), { describe: 'served the first version' });

    const visits = visit(url);
    const memory: number[] = [];
    for (let version = 1; version <= SWAPS; version += 1) {
      await deploy(version);
      await waitFor(() => served(version), { describe: `served version ${version}`, timeoutMs: 60_000, everyMs: 20 });
      memory.push(await residentBytes(url));
      // A page may be at most one version old when it requests its assets.
      const begun = [...visits.views];
      await waitFor(() => visits.views.every((count, index) => count > (begun[index] ?? 0)), {
        describe: `saw every visitor open a page of version ${version}`,
        timeoutMs: 60_000,
        everyMs: 5,
      });
    }
    await visits.stop();
    expect(visits.failures).toEqual([]);
    expect(visits.pages).toBeGreaterThanOrEqual(SWAPS * VISITORS);
    expect(await metric(url, 'galley_deployment_swaps_total')).toBe(SWAPS + 1);
    const [, second = 0, , last = Number.NaN] = quarters(memory);
    expect(last).toBeLessThan(second * MEMORY_GROWTH);
  },
  TIMEOUT_MS,
);

async function residentBytes(url: string): Promise<number> {
  return await metric(url, 'process_resident_memory_bytes');
}

async function metric(url: string, name: string): Promise<number> {
  const text = await (await fetch(`${url}/-/metrics`)).text();
  const line = text.split('\n').find((each) => each.startsWith(name)) ?? '';
  return Number(line.slice(line.lastIndexOf(' ') + 1));
}
