import type { BundleFile, BundleManifest } from '../../../contract/bundle.ts';
import { movedFiles } from './original-urls.ts';
import { encoded } from './redirects.ts';

/** What the `map_hash_bucket_size` in the guide has room for. */
const MAX_MAP_KEY = 1_000;
/** nginx reads no longer word from its configuration than 4,096 bytes. */
const MAX_MAP_VALUE = 4_000;

type Manifest = Pick<BundleManifest, 'files' | 'redirects'>;

/** The inside of `map $uri$is_args$args $moved { … }` of nginx: where URLs redirect to. */
export function nginxRedirects(manifest: Manifest): Buffer {
  return mapOf(
    manifest,
    manifest.redirects.map(({ from, to }) => [bytesOfUrl(from), encoded(to)] as const),
  );
}

/** The inside of `map $uri$is_args$args $stored { … }`: the files of URLs that nginx wouldn't find by their name. */
export function nginxFiles(manifest: Manifest): Buffer {
  return mapOf(
    manifest,
    movedFiles(manifest.files).map(({ url, file }) => [bytesOfUrl(url), bytesOf(`/${file.path}`)] as const),
  );
}

/**
 * Lines of keys and values, in bytes. nginx's `$uri` is the path in plain bytes, so all spellings of a URL have one key.
 * Leaves out what nginx would read as a variable or an expression, and what is too long for it. nginx compares keys
 * without case: it would reject `/A` beside `/a`, and follow `/a` to `/A` forever. So a path that is also known in
 * another case gets a regular expression.
 */
function mapOf({ files, redirects }: Manifest, entries: readonly (readonly [key: string, value: string])[]): Buffer {
  const urls = [...redirects.flatMap(({ from, to }) => [from, to]).map(bytesOfUrl), ...files.flatMap(urlsOf)];
  const inUpperCase = new Set(urls.filter((url) => url !== lowerCase(url)).map(lowerCase));
  const seen = new Set<string>();
  const lines = entries.flatMap(([key, value]) => {
    if (seen.has(key) || !isReadable(key, value)) return [];
    seen.add(key);
    const isCased = inUpperCase.has(lowerCase(key));
    return `"${isCased ? `~^${key.replaceAll(/[.*+?^()|[\]]/g, '\\$&')}$` : key}" "${value}";\n`;
  });
  return Buffer.from(lines.join(''), 'latin1');
}

function isReadable(key: string, value: string): boolean {
  if (key.length > MAX_MAP_KEY || value.length > MAX_MAP_VALUE) return false;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is left out
  return !/[$"\\;{}\x00-\x1f\x7f]/.test(key + value);
}

/** The URLs under which a server may serve the file. */
function urlsOf({ path, url }: BundleFile): string[] {
  const name = bytesOf(`/${path}`);
  const own = url === undefined ? name : bytesOfUrl(url);
  return [own, name, name.replace(/\.html$/, ''), name.replace(/index\.html$/, '')];
}

/** A path and query as in nginx's `$uri$is_args$args`, one character per byte. */
function bytesOfUrl(url: string): string {
  const [, path = '', query = ''] = /^([^?]*)(.*)$/s.exec(url) ?? [];
  return bytesOf(path).replace(/%([0-9a-f]{2})/gi, (_, hex: string) => byte(hex)) + bytesOf(query);
}

function byte(hex: string): string {
  return String.fromCharCode(Number.parseInt(hex, 16));
}

/** Of bytes: only ASCII has two cases for nginx. */
function lowerCase(bytes: string): string {
  return bytes.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}

function bytesOf(text: string): string {
  return Buffer.from(text).toString('latin1');
}
