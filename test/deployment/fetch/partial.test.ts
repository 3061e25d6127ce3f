import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createSigner } from '../../../contract/signing.ts';
import type { DeploymentStatus } from '../../../deployment/status.ts';
import { type Exchange, RangeStore } from '../../helpers/range-store.ts';
import { createGate } from '../../helpers/system/gate.ts';
import { type BundleSpec, buildBundle } from '../bundles.ts';
import { type Fixture, openFixture, type Running } from '../fixture.ts';
import { buildMemberBundle } from '../member-bundle.ts';

const PAGES = 200;
const PAUSES = { soonBaseMs: 20, soonMaxMs: 50, slowlyMs: 50, invalidMs: 50 };

const texts = Array.from({ length: PAGES }, () => randomBytes(15_000).toString('base64'));

/** A site of 200 pages; those named differ from version 1. */
function siteWith(version: string, changed: readonly number[]): BundleSpec {
  const page = (text: string, index: number): [string, string] => [
    `p/${String(index).padStart(3, '0')}.html`,
    `<title>${changed.includes(index) ? version : 'old'}</title>${text}`,
  ];
  return { version, files: { ...Object.fromEntries(texts.map(page)), 'index.html': `<title>home ${version}</title>` } };
}

let fixture: Fixture;
let store: RangeStore;
let running: Running;
let origin: string;
let whole: { old: Buffer; next: Buffer };

const next = siteWith('2', [7, 150]);

beforeAll(async () => {
  whole = { old: await buildMemberBundle(siteWith('1', [])), next: await buildMemberBundle(next) };
});

beforeEach(async () => {
  fixture = await openFixture();
  store = new RangeStore();
  origin = await fixture.serve((request, response) => void store.respond(request, response));
  store.bodies.set('/1', whole.old);
  store.bodies.set('/2', whole.next);
  await fixture.writeValues({ enabled: true, bundleUrl: `${origin}/1` });
  running = await fixture.start({ retryPauses: PAUSES });
  await running.until('serving', ({ version }) => version === '1');
  store.sentBytes = 0;
  store.requests = 0;
});
afterEach(() => fixture.close());

async function deploy(path: string, version: string, values: Record<string, unknown> = {}): Promise<void> {
  await fixture.writeValues({ enabled: true, bundleUrl: origin + path, ...values });
  await running.until('serving the next', (status) => status.version === version && status.lastError === null);
}

/** The folders of versions, each with its files. */
async function versions(): Promise<{ folder: string; files: Map<string, string> }[]> {
  const root = join(fixture.folder, 'home', 'versions');
  return await Promise.all(
    (await readdir(root)).map(async (name) => {
      const folder = join(root, name);
      const entries = await readdir(folder, { recursive: true, withFileTypes: true });
      const paths = entries
        .filter((entry) => entry.isFile())
        .map(({ parentPath, name: file }) => join(parentPath, file));
      const files = await Promise.all(
        paths.map(
          async (path): Promise<[string, string]> => [path.slice(folder.length + 1), await readFile(path, 'utf8')],
        ),
      );
      return { folder, files: new Map(files.filter(([path]) => !path.startsWith('.galley/'))) };
    }),
  );
}

async function expectServed(spec: BundleSpec): Promise<void> {
  const found = (await versions()).find(({ files }) => files.get('index.html') === spec.files['index.html']);
  expect(found && Object.fromEntries(found.files)).toEqual(spec.files);
}

it('of a version with 1 % of its pages changed, less than 3 % is fetched, and the files are equal', async () => {
  await deploy('/2', '2');
  expect(store.sentBytes).toBeLessThan(whole.next.length * 0.03);
  await expectServed(next);
  // Unchanged files are the same on the disk, and outlive the version that they were fetched with.
  const inodes = await Promise.all((await versions()).map(({ folder }) => stat(join(folder, 'p/000.html'))));
  expect(new Set(inodes.map(({ ino }) => ino)).size).toBe(1);
});

it('a fresh link to the same object fetches nothing, and going back fetches the manifest only', async () => {
  await deploy('/2', '2');
  store.sentBytes = 0;
  await deploy('/2?fresh', '2');
  await running.until('asked again', ({ stale }) => !stale);
  expect(store.sentBytes).toBe(0);
  await deploy('/1', '1');
  expect(store.sentBytes).toBeLessThan(whole.old.length * 0.02);
});

it.each([
  [
    'without ranges',
    () => buildMemberBundle(next),
    ({ request }: Pick<Exchange, 'request'>) => void delete request.headers.range,
  ],
  [
    'of which most has changed',
    () =>
      buildMemberBundle(
        siteWith(
          '2',
          texts.map((_, i) => i),
        ),
      ),
    () => undefined,
  ],
  ['without offsets', () => buildBundle(next), () => undefined],
])('an archive %s is fetched whole', async (_name, build, before) => {
  const body = await build();
  store.bodies.set('/2', body);
  const respond = store.respond.bind(store);
  store.respond = async (request, response) => {
    before({ request });
    await respond(request, response);
  };
  await deploy('/2', '2');
  expect(store.sentBytes).toBeGreaterThanOrEqual(body.length);
  expect(await running.text('/')).toBe('<title>home 2</title>');
});

it('a corrupted member is never served, and a repaired archive recovers', async () => {
  const other = await buildMemberBundle(siteWith('3', [7]));
  const spoil = (path: string, member: Buffer): Buffer => {
    if (path === 'p/007.html') member.writeUInt8(member.readUInt8(member.length - 20) ^ 1, member.length - 20);
    return member;
  };
  store.bodies.set('/2', await buildMemberBundle(next, { spoil }));
  await fixture.writeValues({ enabled: true, bundleUrl: `${origin}/2` });
  const failed = await running.until('said why', ({ lastError }) => lastError !== null);
  expect(failed).toMatchObject({ version: '1', stale: true, lastError: { message: /was refused/ } });
  expect(await running.text('/')).toBe('<title>home 1</title>');
  store.bodies.set('/2', other);
  await running.until('recovered', ({ version, lastError }) => version === '3' && lastError === null);
});

it('a file that was damaged on the disk is fetched again, and the progress only grows', async () => {
  const [first] = await versions();
  const path = join(first?.folder ?? '', `p/${PAGES - 1}.html`);
  await writeFile(path, 'x'.repeat((await stat(path)).size));
  const seen: DeploymentStatus['download'][] = [];
  store.intercept = async ({ response, start, end }) => {
    const isOfLastPage = whole.next.length - end < 5_000;
    if (!isOfLastPage) return false;
    // The changed members are here by now.
    const { download: before } = await running.status();
    const half = Math.floor((start + end) / 2);
    response.writeHead(206, { 'content-range': `bytes ${start}-${end - 1}/${whole.next.length}` });
    response.write(whole.next.subarray(start, half));
    const isNews = ({ download }: DeploymentStatus): boolean => download?.receivedBytes !== before?.receivedBytes;
    seen.push(before, (await running.until('received more', isNews)).download);
    response.end(whole.next.subarray(half, end));
    return true;
  };
  await deploy('/2', '2');
  await expectServed(next);
  const [before, later] = seen.map((download) => download?.receivedBytes ?? 0);
  expect(later).toBeGreaterThan(before ?? Number.NaN);
  expect(later).toBeLessThan(seen[1]?.totalBytes ?? 0);
});

it('a link that expires midway leaves the last version, and a new link goes on', async () => {
  store.intercept = ({ request, response, start }) => {
    if (request.url !== '/2' || start === 0) return false;
    response.writeHead(403).end('<Error>Request has expired</Error>');
    return true;
  };
  await fixture.writeValues({ enabled: true, bundleUrl: `${origin}/2` });
  const failed = await running.until('said why', ({ lastError }) => lastError?.status === 403);
  expect(failed).toMatchObject({ version: '1', stale: true });
  await deploy('/2?fresh', '2');
  await expectServed(next);
});

it('if a server sends more than the requested part, nothing more is read, and the whole archive is fetched', async () => {
  const limitBytes = 64 * 1024 * 1024;
  let written = 0;
  store.intercept = ({ request, response, start, end }) => {
    if (request.url !== '/2' || request.headers.range === undefined) return false;
    response.writeHead(206, { etag: '"endless"', 'content-range': `bytes ${start}-${end - 1}/5000000` });
    const more = (): void => {
      while (!response.destroyed && written < limitBytes) {
        written += 65_536;
        if (!response.write(Buffer.alloc(65_536))) return void response.once('drain', more);
      }
      response.end();
    };
    more();
    return true;
  };
  await deploy('/2', '2');
  expect(written).toBeGreaterThan(0);
  expect(written).toBeLessThan(limitBytes);
});

it.each([
  ['another range', (total: number) => ({ status: 206, 'content-range': `bytes 0-9/${total}` })],
  ['416', (total: number) => ({ status: 416, 'content-range': `bytes */${total}` })],
])('a later range request answered with %s is an error, and a repaired link recovers', async (_name, answer) => {
  store.intercept = ({ request, response, start }) => {
    if (request.url !== '/2' || start === 0) return false;
    const { status, ...headers } = answer(whole.next.length);
    response.writeHead(status, headers).end(Buffer.alloc(10));
    return true;
  };
  // Not for the whole archive either, which is the next try.
  store.bodies.set('/2', Buffer.concat([whole.next.subarray(0, -200), Buffer.alloc(200)]));
  await fixture.writeValues({ enabled: true, bundleUrl: `${origin}/2` });
  const failed = await running.until('said why', ({ lastError }) => lastError !== null);
  expect(failed).toMatchObject({ version: '1', stale: true });
  store.intercept = () => false;
  store.bodies.set('/2', whole.next);
  await running.until('recovered', ({ version, lastError }) => version === '2' && lastError === null);
});

it('a process that ends midway leaves nothing behind, and the next one completes the version', async () => {
  const gate = createGate();
  store.intercept = async ({ start, response }) => {
    if (start === 0) return false;
    response.on('close', () => gate.open());
    await gate.pass();
    return false;
  };
  await fixture.writeValues({ enabled: true, bundleUrl: `${origin}/2` });
  await running.until('asked for members', () => store.requests > 1);
  await running.stop();
  store.intercept = () => false;
  running = await fixture.start({ retryPauses: PAUSES });
  expect(await running.text('/')).toBe('<title>home 1</title>');
  await running.until('serving', ({ version }) => version === '2');
  await expectServed(next);
  const names = await readdir(join(fixture.folder, 'home', 'versions'));
  expect(names.filter((name) => name.startsWith('.'))).toEqual([]);
});

it('a wrong signature is refused after the manifest, a right one is accepted', async () => {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const { sign } = createSigner(privateKey.export({ type: 'pkcs8', format: 'pem' }).toString());
  const key = { publicKey: publicKey.export({ type: 'spki', format: 'pem' }).toString() };
  await fixture.writeValues({ enabled: true, bundleUrl: `${origin}/2`, ...key });
  const failed = await running.until('said why', ({ lastError }) => lastError?.message.includes('.sig') === true);
  expect(failed).toMatchObject({ version: '1', stale: true });
  expect(store.sentBytes).toBeLessThan(whole.next.length / 2);
  store.bodies.set('/2', await buildMemberBundle(next, { sign }));
  await running.until('recovered', ({ version, lastError }) => version === '2' && lastError === null);
});
