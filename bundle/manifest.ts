import { createHash } from 'node:crypto';
import {
  BUNDLE_FORMAT_VERSION,
  type BundleFile,
  type BundleManifest,
  type BundleRedirect,
  bundleManifest,
  contentDigestLine,
} from '../contract/bundle.ts';
import { BundleInvalidError, quoted } from './errors.ts';
import { collisionKey, isReserved, pathProblem } from './path.ts';

/** `maxFiles` counts files without their precompressed siblings. */
export type BundleLimits = { maxUnpackedBytes: number; maxFiles: number };

export const NO_LIMITS: BundleLimits = {
  maxUnpackedBytes: Number.MAX_SAFE_INTEGER,
  maxFiles: Number.MAX_SAFE_INTEGER,
};

const GIB = 1024 ** 3;

/** What a deployment accepts by default. */
export const DEPLOYMENT_LIMITS = { maxBundleBytes: 4 * GIB, maxUnpackedBytes: 16 * GIB, maxFiles: 250_000 };

const MAX_SIBLINGS = 3;

/**
 * Parses and checks a manifest before anything is written: format, paths, duplicates, limits, redirects, and that
 * `contentSha256` covers exactly its files.
 * @throws BundleInvalidError naming what is wrong
 */
export function checkManifest(bytes: Buffer, limits: BundleLimits): BundleManifest {
  const manifest = parseManifest(bytes);
  const ownCount = manifest.files.filter(({ encoding }) => encoding === undefined).length;
  if (ownCount > limits.maxFiles || manifest.files.length > limits.maxFiles * (1 + MAX_SIBLINGS)) {
    throw new BundleInvalidError(`the manifest names more than the ${limits.maxFiles} files allowed`);
  }
  checkPaths(manifest.files);
  checkContentTypes(manifest.files);
  checkSiblings(manifest.files);
  const unpackedBytes = manifest.files.reduce((sum, { size }) => sum + size, 0);
  if (unpackedBytes > limits.maxUnpackedBytes) {
    throw new BundleInvalidError(`the manifest's files are larger than the ${limits.maxUnpackedBytes} bytes allowed`);
  }
  const wrong = manifest.redirects.find((redirect) => !isRedirect(redirect));
  if (wrong !== undefined)
    throw new BundleInvalidError(`the manifest's redirect from ${quoted(wrong.from)} is not one`);
  const digest = createHash('sha256');
  for (const file of manifest.files) digest.update(contentDigestLine(file));
  if (digest.digest('hex') !== manifest.contentSha256) {
    throw new BundleInvalidError("the manifest's contentSha256 doesn't match its files");
  }
  return manifest;
}

function parseManifest(bytes: Buffer): BundleManifest {
  let json: unknown;
  try {
    json = JSON.parse(bytes.toString('utf8'));
  } catch {
    throw new BundleInvalidError('the manifest is not JSON');
  }
  const parsed = bundleManifest.safeParse(json);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new BundleInvalidError(
      `the manifest's ${issue?.path.join('.') || 'content'}: ${issue?.message ?? 'unexpected'}`,
    );
  }
  const { formatVersion } = parsed.data;
  if (formatVersion > BUNDLE_FORMAT_VERSION) {
    throw new BundleInvalidError(`format version ${formatVersion} is newer than this deployment understands`);
  }
  return parsed.data;
}

function checkPaths(files: readonly BundleFile[]): void {
  const seen = new Set<string>();
  const folders = new Set<string>();
  for (const { path } of files) {
    const problem = pathProblem(path);
    if (problem !== undefined) throw new BundleInvalidError(`the path ${quoted(path)} ${problem}`);
    if (isReserved(path)) throw new BundleInvalidError(`the path ${quoted(path)} is reserved for the bundle itself`);
    const key = collisionKey(path);
    if (seen.has(key)) throw new BundleInvalidError(`the path ${quoted(path)} occurs twice, or differs only in case`);
    seen.add(key);
    for (let end = key.lastIndexOf('/'); end > 0; end = key.lastIndexOf('/', end - 1)) folders.add(key.slice(0, end));
  }
  for (const { path } of files) {
    if (folders.has(collisionKey(path)))
      throw new BundleInvalidError(`the path ${quoted(path)} is a file and a folder`);
  }
}

/** What Node sends as the value of a header. */
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]{0,1000}$/;

/** Whether a file of a bundle may have this content type. */
export function isContentType(text: string): boolean {
  return HEADER_VALUE.test(text);
}

function checkContentTypes(files: readonly BundleFile[]): void {
  const wrong = files.find(({ contentType }) => !isContentType(contentType));
  if (wrong !== undefined)
    throw new BundleInvalidError(`the contentType of ${quoted(wrong.path)} is no header's value`);
}

function checkSiblings(files: readonly BundleFile[]): void {
  const own = new Set(files.flatMap(({ path, encoding }) => (encoding === undefined ? [path] : [])));
  for (const { path, encoding } of files) {
    if (encoding !== undefined && !own.has(pathOfSibling(path))) {
      throw new BundleInvalidError(
        `the path ${quoted(path)} is said to be a file in ${quoted(encoding)} that isn't there`,
      );
    }
  }
}

/** The file whose precompressed sibling has this path. */
export function pathOfSibling(path: string): string {
  return path.slice(0, path.lastIndexOf('.'));
}

/** Whether a bundle may have this redirect. */
export function isRedirect({ from, to, status }: BundleRedirect): boolean {
  if (!from.startsWith('/') || status < 300 || status > 399 || /[\r\n]/.test(to)) return false;
  return to.startsWith('/') || /^https?:\/\//.test(to);
}
