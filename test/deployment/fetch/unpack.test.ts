import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { BundleInvalidError } from '../../../bundle/errors.ts';
import { unpackBundle } from '../../../deployment/fetch/unpack.ts';
import { emptiedFolder } from '../../helpers/temporary-folder.ts';
import {
  type BundleSpec,
  type Entry,
  entriesOf,
  gzipInMembers,
  manifestOf,
  packTar,
  sha256,
  siteOf,
} from '../bundles.ts';

const LIMITS = { maxUnpackedBytes: 10_000_000, maxFiles: 1_000 };

const folder = emptiedFolder();

async function unpack(archive: Buffer, limits = LIMITS) {
  const target = join(folder, 'inner', 'site');
  await mkdir(target, { recursive: true });
  await writeFile(join(folder, 'archive'), archive);
  const signal = AbortSignal.timeout(120_000);
  return await unpackBundle({
    archive: join(folder, 'archive'),
    folder: target,
    limits,
    signal,
    accept: () => undefined,
  });
}

/** Everything outside the target folder. */
async function strayFiles(): Promise<string[]> {
  return [...(await readdir(folder)), ...(await readdir(join(folder, 'inner')))].sort();
}

async function expectRejected(archive: Buffer, message: RegExp | string, limits = LIMITS): Promise<void> {
  const error: unknown = await unpack(archive, limits).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(BundleInvalidError);
  expect(String(error)).toMatch(message);
  expect(await strayFiles()).toEqual(['archive', 'inner', 'site']);
}

const site = siteOf('1');
const corrupted = async (change: (entries: Entry[]) => void): Promise<Buffer> => {
  const entries = entriesOf(site);
  change(entries);
  return gzipSync(await packTar(entries));
};
const withManifest = async (manifest: unknown, spec: BundleSpec = site): Promise<Buffer> =>
  gzipSync(await packTar(entriesOf(spec, manifest)));
const withPath = async (path: string): Promise<Buffer> => {
  const spec = { ...site, files: { ...site.files, [path]: 'x' } };
  return gzipSync(await packTar(entriesOf(spec)));
};

describe('a valid bundle', () => {
  it('of several gzip members is unpacked completely', async () => {
    const spec = siteOf('1', {
      'größe/big file.bin': Buffer.alloc(300_000, 7),
      'u/caf\uFFFD.png': 'as older exporters name it',
      'empty.txt': '',
      [`${'long/'.repeat(60)}x.html`]: 'x',
    });
    const manifest = await unpack(gzipInMembers(await packTar(entriesOf(spec))));
    expect(manifest).toEqual(manifestOf(spec));
    for (const [path, content] of Object.entries(spec.files)) {
      expect(sha256(await readFile(join(folder, 'inner', 'site', path)))).toBe(sha256(content));
    }
  });
});

describe('an archive is rejected and leaves nothing outside its folder if', () => {
  it.each([
    ['../evil.html', 'holds the segment'],
    ['a/../../evil.html', 'holds the segment'],
    ['/etc/evil.html', 'is absolute'],
    ['a//b.html', 'empty segment'],
    ['./a.html', 'holds the segment'],
    ['a\\..\\b.html', 'backslash'],
    ['a\nb.html', 'control character'],
    ['a\u0085b.html', 'control character'],
    ['.galley/extra.json', 'reserved'],
    ['.GALLEY/extra.json', 'reserved'],
    ['INDEX.html', 'differs only in case'],
    ['index.html/x', 'a file and a folder'],
    ['x'.repeat(300), 'longer than 255'],
    ['abc/'.repeat(300), 'longer than 1024'],
  ])('its manifest and an entry have the path %j', async (path, message) => {
    await expectRejected(await withPath(path), message);
  });

  it.each(['../evil.html', '/tmp/evil.html', 'index.html/../../evil.html'])(
    'an entry that is not in the manifest is named %s',
    async (name) => {
      await expectRejected(
        await corrupted((entries) => entries.push({ header: { name }, content: Buffer.from('x') })),
        'not in the manifest',
      );
    },
  );

  it.each([
    ['link', 'hard link'],
    ['symlink', 'symlink'],
    ['character-device', 'character-device'],
    ['block-device', 'block-device'],
    ['fifo', 'fifo'],
    ['directory', 'directory'],
  ] as const)('an entry is a %s', async (type, named) => {
    const archive = await corrupted((entries) => {
      entries[1] = { header: { name: '404.html', type, linkname: '/etc/passwd' }, content: Buffer.alloc(0) };
    });
    await expectRejected(archive, `is a ${named}, not a file`);
  });

  it("an entry's size differs from the manifest", async () => {
    const archive = await corrupted((entries) => {
      entries[1] = { header: { name: '404.html' }, content: Buffer.from('longer than it was announced by far') };
    });
    await expectRejected(archive, 'another size');
  });

  it('an entry has the right size but other bytes', async () => {
    const archive = await corrupted((entries) => {
      const first = entries[1];
      if (first !== undefined) entries[1] = { ...first, content: Buffer.alloc(first.content.length, 'x') };
    });
    await expectRejected(archive, "doesn't match its sha256");
  });

  it.each(['text/html\r\nset-cookie: a=b', 'text/→', 'x'.repeat(1_001)])('a contentType is %j', async (contentType) => {
    const spec = { ...site, contentTypes: { 'index.html': contentType } };
    await expectRejected(await withManifest(manifestOf(spec)), 'the contentType of "index.html" is no header');
  });

  it('an entry occurs twice', async () => {
    await expectRejected(await corrupted((entries) => entries.push(...entries.slice(1, 2))), 'occurs twice');
  });

  it('a file is missing', async () => {
    await expectRejected(await corrupted((entries) => entries.pop()), '1 files are missing');
  });

  it('the manifest is not the first entry, or is missing', async () => {
    await expectRejected(await corrupted((entries) => entries.reverse()), "doesn't begin with");
    await expectRejected(gzipSync(await packTar([])), 'is empty');
  });

  it('its contentSha256 does not match its files', async () => {
    await expectRejected(await withManifest({ ...manifestOf(site), contentSha256: sha256('x') }), 'contentSha256');
  });

  it('its manifest is invalid', async () => {
    await expectRejected(await withManifest('{'), 'not JSON');
    await expectRejected(await withManifest('null'), 'manifest');
    await expectRejected(await withManifest({ ...manifestOf(site), version: '' }), "manifest's version");
    await expectRejected(await withManifest({ ...manifestOf(site), formatVersion: 2 }), 'newer than');
  });

  it.each([
    { from: 'old', to: '/new', status: 301 },
    { from: '/old', to: 'javascript:alert(1)', status: 301 },
    { from: '/old', to: '/new\r\nSet-Cookie: a=b', status: 301 },
    { from: '/old', to: '/new', status: 200 },
  ])('a redirect is invalid: %j', async (redirect) => {
    await expectRejected(await withManifest({ ...manifestOf(site), redirects: [redirect] }), 'redirect from');
  });

  it('it exceeds a limit', async () => {
    await expectRejected(await withManifest(manifestOf(site)), 'files allowed', { ...LIMITS, maxFiles: 3 });
    await expectRejected(await withManifest(manifestOf(site)), 'bytes allowed', { ...LIMITS, maxUnpackedBytes: 50 });
  });

  it('a precompressed file has no original, or an invalid content coding', async () => {
    const manifest = manifestOf(site);
    const withEncoding = (encoding: string) => ({
      ...manifest,
      files: manifest.files.map((file) => (file.path === 'index.html' ? { ...file, encoding } : file)),
    });
    await expectRejected(await withManifest(withEncoding('br')), `"index.html" is said to be a file in "br"`);
    await expectRejected(await withManifest(withEncoding('br\r\nX: y')), 'expected a content coding');
  });

  it('it continues far beyond the size in its manifest', async () => {
    const endless = Buffer.concat([await packTar(entriesOf(site)), Buffer.alloc(40_000_000)]);
    await expectRejected(gzipSync(endless), 'unpacks to more');
  });

  it('it is truncated at any position', async () => {
    const archive = gzipInMembers(await packTar(entriesOf(site)));
    for (const length of [0, 1, 20, 300, Math.floor(archive.length / 2), archive.length - 1]) {
      await expectRejected(archive.subarray(0, length), /can't be unpacked|is empty|missing/);
      await rm(join(folder, 'inner'), { recursive: true });
    }
  });

  it('it is not an archive', async () => {
    await expectRejected(Buffer.from('<html>Sign in</html>'), "can't be unpacked");
    await expectRejected(gzipSync('x'.repeat(5_000)), "can't be unpacked");
    await expectRejected(
      Buffer.concat([await corrupted(() => undefined), Buffer.from('rubbish')]),
      "can't be unpacked",
    );
  });
});
