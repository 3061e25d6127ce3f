import { createHash, generateKeyPairSync } from 'node:crypto';
import { Readable } from 'node:stream';
import { readBundleHead } from '../../../bundle/read-bundle.ts';
import { createSigner } from '../../../contract/signing.ts';
import { RangeStore } from '../../helpers/range-store.ts';
import { type BundleSpec, siteOf } from '../bundles.ts';
import { type Fixture, openFixture, type Running } from '../fixture.ts';
import { buildMemberBundle } from '../member-bundle.ts';

const PAUSES = { soonBaseMs: 20, soonMaxMs: 50, slowlyMs: 50, invalidMs: 50 };

const { privateKey, publicKey } = generateKeyPairSync('ed25519');
const { sign } = createSigner(privateKey.export({ type: 'pkcs8', format: 'pem' }).toString());
const key = publicKey.export({ type: 'spki', format: 'pem' }).toString();

/** All of it is genuine: every bundle here is signed with the key that the values file names. */
const signed = (spec: BundleSpec, spoil?: (path: string, member: Buffer) => Buffer): Promise<Buffer> =>
  buildMemberBundle(spec, { sign, ...(spoil !== undefined && { spoil }) });

/** Large enough that a new version is fetched in parts. */
const site = (version: string, domain = 'docs.example.com'): BundleSpec => ({
  ...siteOf(version, { 'large.txt': 'unchanged\n'.repeat(10), 'noise.bin': NOISE }),
  domain,
});
const NOISE = createHash('shake256', { outputLength: 100_000 }).update('noise').digest();

async function integrityIn(archive: Buffer): Promise<string> {
  const { manifest } = await readBundleHead(Readable.from([archive]));
  return `sha256-${createHash('sha256').update(manifest).digest('base64')}`;
}

let fixture: Fixture;
let store: RangeStore;
let running: Running;
let origin: string;

beforeEach(async () => {
  fixture = await openFixture();
  store = new RangeStore();
  origin = await fixture.serve((request, response) => void store.respond(request, response));
});
afterEach(() => fixture.close());

/** Serves version 2 of the site, then asks for version 3. Returns the integrity of the latter. */
async function serveTwo(): Promise<string> {
  const served = await signed(site('2'));
  store.bodies.set('/2', served);
  await fixture.writeValues({ enabled: true, bundleUrl: `${origin}/2`, integrity: await integrityIn(served) });
  running = await fixture.start({ retryPauses: PAUSES });
  await running.until('serving', ({ version, stale }) => version === '2' && !stale);
  return await integrityIn(await signed(site('3')));
}

async function deploy(values: Record<string, unknown>): Promise<void> {
  await fixture.writeValues({ enabled: true, publicKey: key, bundleUrl: `${origin}/3`, ...values });
}

const genuine = {
  old: () => signed(site('1')),
  served: () => signed(site('2')),
  otherSite: () => signed(site('3', 'other.example.com')),
  otherManifest: () => signed({ ...site('3'), redirects: [{ from: '/a', to: 'https://evil.example/', status: 302 }] }),
};

describe.each([
  ['in parts', true],
  ['whole', false],
])('a bundle that is fetched %s', (_how, offersRanges) => {
  it.each([
    ['an old bundle at the same link', genuine.old],
    ['the bundle that is served already', genuine.served],
    ["another site's bundle", genuine.otherSite],
    ['a replaced manifest', genuine.otherManifest],
  ])('with integrity: %s is rejected though it is signed, and the right one recovers', async (_name, build) => {
    const integrity = await serveTwo();
    store.offersRanges = offersRanges;
    store.bodies.set('/3', await build());
    await deploy({ integrity });
    const failed = await running.until('said why', ({ lastError }) => lastError !== null);
    expect(failed).toMatchObject({ state: 'serving', version: '2', domain: 'docs.example.com', stale: true });
    expect(failed.lastError?.message).toContain('its manifest is not the one of staticExport.integrity');
    expect(await running.text('/')).toBe('<title>home 2</title>');
    store.bodies.set('/3', await signed(site('3')));
    await running.until('recovered', (status) => status.version === '3' && status.lastError === null && !status.stale);
  });

  it('with one member replaced is rejected', async () => {
    const integrity = await serveTwo();
    store.offersRanges = offersRanges;
    const replaced = { ...site('3'), files: { ...site('3').files, 'index.html': '<title>evil 3</title>' } };
    const evil = await signed(replaced);
    const right = await signed(site('3'));
    const { manifest } = await readBundleHead(Readable.from([right]));
    const { files } = JSON.parse(manifest.toString());
    const { offset, length } = files.find(({ path }: { path: string }) => path === 'index.html');
    const evilHead = await readBundleHead(Readable.from([evil]));
    const evilMember = JSON.parse(evilHead.manifest.toString()).files.find(
      ({ path }: { path: string }) => path === 'index.html',
    );
    const at = (archive: Buffer, member: { offset: number }): number => archive.readUIntLE(16, 6) + member.offset;
    expect(evilMember.length).toBe(length);
    const spoilt = Buffer.from(right);
    evil.copy(spoilt, at(right, { offset }), at(evil, evilMember), at(evil, evilMember) + length);
    store.bodies.set('/3', spoilt);
    await deploy({ integrity });
    const { lastError } = await running.until('said why', (status) => status.lastError !== null);
    expect(lastError?.message).toMatch(/index\.html.* doesn't match its sha256|can't be unpacked/);
    expect(await running.text('/')).toBe('<title>home 2</title>');
  });
});

it('without integrity, a signed old bundle is served: a signature says who made it, not that it is the newest', async () => {
  await serveTwo();
  store.bodies.set('/3', await genuine.old());
  await deploy({});
  await running.until('went back', ({ version, lastError }) => version === '1' && lastError === null);
});

it('integrity is checked for what is on the disk too, by a link that names those bytes', async () => {
  const integrity = await serveTwo();
  const sha = createHash('sha256')
    .update(store.bodies.get('/2') ?? '')
    .digest('hex');
  store.requests = 0;
  await deploy({ integrity, bundleUrl: `${origin}/bundles/${sha}/bundle.tar.gz`, publicKey: undefined });
  const failed = await running.until('said why', ({ lastError }) => lastError !== null);
  expect(failed).toMatchObject({ version: '2', stale: true });
  expect(store.requests).toBe(0);
});

it('a pinned version on the disk stays served, whatever the integrity of the link', async () => {
  const integrity = await serveTwo();
  store.bodies.set('/3', await signed(site('3')));
  await deploy({ integrity, version: '2' });
  const held = await running.until('held', ({ checkedAt, pinnedVersion, stale }) => {
    return checkedAt !== null && pinnedVersion === '2' && !stale;
  });
  expect(held).toMatchObject({ version: '2', lastError: null });
  await running.stop();
  running = await fixture.start({ retryPauses: PAUSES });
  expect(await running.text('/')).toBe('<title>home 2</title>');
  await running.until('asked again', ({ checkedAt, lastError }) => checkedAt !== null && lastError === null);
  await deploy({ integrity });
  await running.until('followed the link again', ({ version, stale }) => version === '3' && !stale);
});
