import { generateKeyPairSync } from 'node:crypto';
import { MANIFEST_PATH, SIGNATURE_PATH } from '../../../contract/bundle.ts';
import { createSigner } from '../../../contract/signing.ts';
import { buildBundle, type Entry, entriesOf, gzipInMembers, packTar, siteOf } from '../bundles.ts';
import { type Fixture, openFixture } from '../fixture.ts';

const PAUSES = { soonBaseMs: 20, soonMaxMs: 50, slowlyMs: 50, invalidMs: 50 };

function keyPair(): { publicKey: string; sign(bytes: Buffer): string } {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const { sign } = createSigner(privateKey.export({ type: 'pkcs8', format: 'pem' }).toString());
  return { publicKey: publicKey.export({ type: 'spki', format: 'der' }).toString('base64'), sign };
}

const ours = keyPair();
const others = keyPair();

/** A bundle signed with `sign`; `change` spoils it afterwards. */
async function signed(
  version: string,
  sign: (bytes: Buffer) => string,
  change: (entries: Entry[]) => void = () => undefined,
): Promise<Buffer> {
  const [manifest, ...files] = entriesOf(siteOf(version));
  if (manifest === undefined) throw new Error('no manifest');
  const signature: Entry = {
    header: { name: SIGNATURE_PATH, type: 'file' },
    content: Buffer.from(`${sign(manifest.content)}\n`),
  };
  const entries = [manifest, signature, ...files];
  change(entries);
  return gzipInMembers(await packTar(entries));
}

function changeManifest(entries: Entry[]): void {
  const manifest = entries.find(({ header }) => header.name === MANIFEST_PATH);
  if (manifest !== undefined) manifest.content = Buffer.from(`${manifest.content.toString()}\n`);
}

let fixture: Fixture;
beforeEach(async () => {
  fixture = await openFixture();
});
afterEach(() => fixture.close());

it.each([
  ['no signature', () => buildBundle(siteOf('2')), /it has no \.galley\/manifest\.sig/],
  ['the signature of another key', () => signed('2', others.sign), /not one of staticExport\.publicKey/],
  ['a manifest changed since', () => signed('2', ours.sign, changeManifest), /not one of staticExport\.publicKey/],
  ['no base64', () => signed('2', () => 'none'), /not one of staticExport\.publicKey/],
])('a bundle with %s is refused, the last version stays, and a signed one recovers', async (_name, spoilt, message) => {
  const bodies = new Map([
    ['/1', await signed('1', ours.sign)],
    ['/2', await spoilt()],
  ]);
  const store = await fixture.serve((req, res) => res.end(bodies.get(req.url ?? '')));
  const { publicKey } = ours;
  await fixture.writeValues({ enabled: true, bundleUrl: `${store}/1`, publicKey });
  const running = await fixture.start({ retryPauses: PAUSES });
  await running.until('serving', ({ version }) => version === '1');
  await fixture.writeValues({ enabled: true, bundleUrl: `${store}/2`, publicKey });
  const { lastError, ...failed } = await running.until('said why', (status) => status.lastError !== null);
  expect(failed).toMatchObject({ state: 'serving', version: '1', stale: true });
  expect(lastError?.message).toMatch(message);
  expect(await running.text('/')).toBe('<title>home 1</title>');
  bodies.set('/2', await signed('2', ours.sign));
  await running.until('recovered', (status) => status.version === '2' && status.lastError === null);
});

it('a key set later applies to what is on the disk, and a restart serves the last version meanwhile', async () => {
  let body = await buildBundle(siteOf('1'));
  const store = await fixture.serve((_req, res) => res.end(body));
  const bundleUrl = `${store}/bundle`;
  await fixture.writeValues({ enabled: true, bundleUrl });
  const first = await fixture.start({ retryPauses: PAUSES });
  await first.until('serving', ({ version }) => version === '1');
  await fixture.writeValues({ enabled: true, bundleUrl, publicKey: ours.publicKey });
  await first.until('said why', ({ lastError }) => lastError?.message.includes('manifest.sig') === true);
  await first.stop();
  const second = await fixture.start({ retryPauses: PAUSES });
  expect(await second.text('/')).toBe('<title>home 1</title>');
  await second.until('said why', ({ lastError }) => lastError?.message.includes('manifest.sig') === true);
  body = await signed('2', ours.sign);
  await second.until('recovered', ({ version, lastError }) => version === '2' && lastError === null);
});

it('a deployment without a key serves signed bundles too', async () => {
  const body = await signed('1', others.sign);
  const store = await fixture.serve((_req, res) => res.end(body));
  await fixture.writeValues({ enabled: true, bundleUrl: `${store}/1` });
  const running = await fixture.start();
  await running.until('serving', ({ version, lastError }) => version === '1' && lastError === null);
});
