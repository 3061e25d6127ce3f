import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';
import { bundleManifest } from '../../contract/bundle.ts';
import { entriesOf, gzipInMembers, manifestOf, packTar } from '../../test/deployment/bundles.ts';

const KB = 1_000;
const MIB = 1024 * 1024;

/** Sizes of the served files in bytes. */
export const SIZES = { small: 4 * KB, large: 178 * KB, media: 64 * MIB };

/** The request of one case. `bodyBytes`: the expected size of the response's body. */
export type ServeCase = { path: string; headers: Readonly<Record<string, string>>; bodyBytes: number };

const identity = { 'Accept-Encoding': 'identity' };

/** Writes the bundle of a small site and its values file. Returns the values file and the cases. */
export async function writeServeSite(
  folder: string,
): Promise<{ valuesFile: string; cases: Readonly<Record<string, ServeCase>> }> {
  const files: Record<string, string | Buffer> = {
    '404.html': page(KB),
    'index.html': page(KB),
    'large.html': page(SIZES.large),
    'media.mp4': randomBytes(SIZES.media),
    'packed.html': page(SIZES.large),
    'small.html': page(SIZES.small),
  };
  const packed = gzipSync(files['packed.html'] ?? '');
  const spec = { files: { ...files, 'packed.html.gz': packed } };
  const manifest = manifestOf(spec);
  const listed = manifest.files.map((file) => (file.path.endsWith('.gz') ? { ...file, encoding: 'gzip' } : file));
  const entries = entriesOf(spec, bundleManifest.parse({ ...manifest, files: listed }));
  const archive = join(folder, 'bundle.tar.gz');
  await writeFile(archive, gzipInMembers(await packTar(entries)));
  const valuesFile = join(folder, 'values.yaml');
  // JSON is YAML.
  const values = { staticExport: { enabled: true, bundleUrl: pathToFileURL(archive).href } };
  await writeFile(valuesFile, JSON.stringify(values));
  const range = { ...identity, Range: `bytes=${8 * MIB}-${9 * MIB - 1}` };
  const cases: Record<string, ServeCase> = {
    'small page, 4 kB': { path: '/small.html', headers: identity, bodyBytes: SIZES.small },
    'large page, 178 kB': { path: '/large.html', headers: identity, bodyBytes: SIZES.large },
    '1 MiB of a 64 MiB file, by range': { path: '/media.mp4', headers: range, bodyBytes: MIB },
    'precompressed page, 178 kB': {
      path: '/packed.html',
      headers: { 'Accept-Encoding': 'gzip' },
      bodyBytes: packed.length,
    },
    'revalidation of a large page': { path: '/large.html', headers: identity, bodyBytes: 0 },
  };
  return { valuesFile, cases };
}

/** Text that compresses about as well as a page of docs. */
function page(sizeBytes: number): Buffer {
  const words = randomBytes(Math.ceil(sizeBytes / 4))
    .toString('base64')
    .slice(0, sizeBytes / 3);
  const lines = '<li><a href="guides/start.html">A line that every page repeats</a></li>\n';
  const text = `<!doctype html><title>bench</title><p>${words}</p><ul>${lines.repeat(Math.ceil(sizeBytes / lines.length))}`;
  return Buffer.from(text).subarray(0, sizeBytes);
}
