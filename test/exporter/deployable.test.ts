import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DEPLOYMENT_LIMITS } from '../../bundle/manifest.ts';
import { resolveRequest } from '../../bundle/resolve-request.ts';
import { canonicalTarget } from '../../bundle/url.ts';
import { unpackBundle } from '../../deployment/fetch/unpack.ts';
import { createSite } from '../../deployment/site.ts';
import { exportArchive } from '../helpers/export-archive.ts';
import fc, { anyCharacter } from '../helpers/fast-check.ts';
import { type HttpSite, startHttpSite } from '../helpers/http-site.ts';

let site: HttpSite;
beforeAll(async () => {
  site = await startHttpSite(() => {});
});
afterAll(() => site.close());

/** The contents of an archive as a deployment would serve them, by request target; undefined: not found. */
async function deployed(archive: Buffer): Promise<{ get(target: string): Promise<string | undefined> }> {
  const folder = await mkdtemp(join(tmpdir(), 'galley-deployable-'));
  try {
    const file = join(folder, 'bundle.tar.gz');
    const root = join(folder, 'root');
    await writeFile(file, archive);
    await mkdir(root);
    const { signal } = new AbortController();
    const unpacking = { archive: file, folder: root, limits: DEPLOYMENT_LIMITS, signal, accept: () => {} };
    const manifest = await unpackBundle(unpacking);
    const served = createSite(root, '', manifest);
    const bodies = new Map<string, string>();
    for (const { path } of manifest.files) bodies.set(path, await readFile(join(root, path), 'utf8'));
    return {
      async get(target) {
        const found = resolveRequest(target, served);
        return found.kind === 'file' ? bodies.get(found.file.path) : undefined;
      },
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

type Resource = { target: string; contentType: string | undefined };

/** Serves a start page with images at these targets, and returns their contents, each another one. */
function serveImages(images: readonly Resource[]): Map<string, string> {
  const byTarget = new Map(
    images.map((image, index) => [canonicalTarget(image.target), { ...image, body: `image ${index}` }]),
  );
  const tags = [...byTarget.keys()].map((target) => `<img src="${target.replaceAll('&', '&amp;')}">`);
  site.setHandler((request, response) => {
    const image = byTarget.get(canonicalTarget(request.url ?? '/'));
    if (request.url === '/') response.writeHead(200, { 'content-type': 'text/html' }).end(tags.join(''));
    else if (image === undefined) response.writeHead(404).end();
    else {
      const { contentType, body } = image;
      response.writeHead(200, contentType === undefined ? {} : { 'content-type': contentType }).end(body);
    }
  });
  return new Map([...byTarget].map(([target, { body }]) => [target, body]));
}

describe('what the exporter writes', () => {
  const byte = fc.integer({ min: 0, max: 255 }).map((code) => `%${code.toString(16).toUpperCase().padStart(2, '0')}`);
  const character = anyCharacter.map(encodeURIComponent);
  const special = fc.constantFrom(
    '%EF%BF%BD',
    '%C2%80',
    '%00',
    '.',
    '%20',
    '.galley',
    'con',
    '_external',
    '_long',
    'a',
  );
  const segment = fc.oneof(
    fc.array(fc.oneof(byte, character, special), { minLength: 1, maxLength: 8 }).map((parts) => parts.join('')),
    fc.constantFrom('%F0%9F%92%A5'.repeat(60), 'n'.repeat(254), '%EF%BF%BD'.repeat(90)),
  );
  const target = fc
    .tuple(fc.array(segment, { minLength: 1, maxLength: 6 }), fc.constantFrom('', '.png', '/', '?q', '.css'))
    .map(([segments, end]) => `/${segments.join('/')}${end}`)
    // Longer URLs are left out and reported.
    .filter((path) => path.length < 1_900);
  const contentType = fc.option(
    fc.oneof(
      fc.constantFrom('image/png', 'text/css; charset=utf-8', `text/plain; a=${'b'.repeat(2_000)}`, ''),
      fc.string({ unit: fc.integer({ min: 0x80, max: 0xff }).map((code) => String.fromCharCode(code)) }),
    ),
    { nil: undefined },
  );
  const sites = fc.array(fc.record({ target, contentType }), { maxLength: 25 });

  it('a deployment reads, and serves each file at its URL, whatever its name and type at the origin', async () => {
    const check = fc.asyncProperty(sites, async (images) => {
      const bodies = serveImages(images);
      const { get } = await deployed((await exportArchive(site.origin)).archive);
      for (const [url, body] of bodies) expect([url, await get(url)]).toEqual([url, body]);
    });
    await fc.assert(check, { numRuns: 30 });
  });
});
