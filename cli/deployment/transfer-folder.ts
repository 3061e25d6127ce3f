import { createHash } from 'node:crypto';
import { constants, createWriteStream } from 'node:fs';
import { open, readdir, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { z } from 'zod';
import { LATEST } from '../../activities/deployments/targets/airgap.ts';
import { errorCode } from '../../base/error-code.ts';
import { measure, sha256Hex } from '../../base/sha256.ts';
import { readArchiveHead } from '../../bundle/archive-file.ts';
import { BundleInvalidError } from '../../bundle/errors.ts';
import { checkManifest, DEPLOYMENT_LIMITS } from '../../bundle/manifest.ts';
import type { BundleManifest } from '../../contract/bundle.ts';
import { integrityOf } from '../../contract/integrity.ts';
import { createVerifier } from '../../contract/signing.ts';
import { checkHead } from '../../deployment/fetch/authenticity.ts';
import { UsageError } from '../command-error.ts';

const BUNDLE = 'bundle.tar.gz';
const VALUES = 'values.yaml';
const SUMS = 'SHA256SUMS';
const SUMS_SIGNATURE = 'SHA256SUMS.sig';

/** Of every file but the bundle. */
const MAX_TEXT_BYTES = 1024 * 1024;

/** What `latest` in a site's folder names. It comes from another machine, so it must be a plain name. */
const latestFile = z.object({ folder: z.string().regex(/^(?!\.)[\w.+-]+$/) });

export type Carried = { sha256: string; manifest: BundleManifest; integrity: string };

/**
 * Copies the bundle of a version's folder to `copy`, and verifies the copy and the folder.
 * @throws UsageError naming what is wrong with the folder
 */
export async function copyCarried(folder: string, copy: string, publicKey: string | undefined): Promise<Carried> {
  const sums = await readSums(folder, publicKey);
  for (const [name, sha256] of sums) {
    if (name !== BUNDLE && (await hashOf(folder, name)) !== sha256) throw wrongSum(folder, name);
  }
  // The copy is verified, not the medium: that could change in between.
  const sha256 = await copyAndHash(folder, copy);
  if (sha256 !== sums.get(BUNDLE)) throw wrongSum(folder, BUNDLE);
  return { sha256, ...(await readHead(copy, folder, publicKey)) };
}

/** The version's folder in a site's folder, or in the folder of all sites if it has only one site. */
export async function findVersion(folder: string): Promise<string> {
  const names = await readdir(folder).catch((): string[] => []);
  if (names.includes(SUMS) || names.includes(BUNDLE)) return folder;
  if (names.includes(LATEST)) return await newestVersion(folder);
  const found = await Promise.all(names.map(async (name) => ((await isSite(join(folder, name))) ? [name] : [])));
  const sites = found.flat().sort();
  const [only] = sites;
  if (only === undefined) return folder;
  if (sites.length > 1)
    throw new UsageError(`${folder}: expected the folder of one site, as ${sites.join(' or ')} in it`);
  return await newestVersion(join(folder, only));
}

async function isSite(folder: string): Promise<boolean> {
  return await stat(join(folder, LATEST)).then(
    (found) => found.isFile(),
    () => false,
  );
}

async function newestVersion(site: string): Promise<string> {
  try {
    const latest = await readPart(site, LATEST);
    return join(site, latestFile.parse(JSON.parse(latest.toString('utf8'))).folder);
  } catch {
    throw new UsageError(`${site}: ${LATEST} names no version: name the folder of a version`);
  }
}

/** The SHA-256 by name of the files in the folder. */
async function readSums(folder: string, publicKey: string | undefined): Promise<Map<string, string>> {
  const bytes = await readPart(folder, SUMS);
  if (publicKey !== undefined) {
    const signature = await readPart(folder, SUMS_SIGNATURE);
    if (!createVerifier(publicKey).verifies(bytes, signature.toString('latin1'))) {
      throw new UsageError(`${folder}: ${SUMS_SIGNATURE} is not a signature of staticExport.publicKey for ${SUMS}`);
    }
  }
  const sums = new Map<string, string>();
  for (const line of bytes.toString('utf8').split('\n')) {
    if (line.trim() === '') continue;
    const [, sha256, name] = /^([0-9a-f]{64}) [ *](.+?)\r?$/.exec(line) ?? [];
    if (sha256 === undefined || name === undefined || basename(name) !== name) {
      throw new UsageError(
        `${folder}: ${SUMS}: expected lines such as sha256sum prints, each with a file of the folder`,
      );
    }
    sums.set(name, sha256);
  }
  for (const name of [BUNDLE, VALUES]) {
    if (!sums.has(name)) throw new UsageError(`${folder}: ${SUMS} doesn't list ${name}`);
  }
  return sums;
}

/**
 * The content of a regular file: on a medium from elsewhere, a pipe or a device would never end, and a link could lead to
 * any file of this machine.
 */
export async function* contentOf(folder: string, name: string, maxBytes: number): AsyncGenerator<Buffer> {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  const refuse = (): never => {
    throw new UsageError(`${folder}: ${name}: expected a regular file of at most ${maxBytes} bytes`);
  };
  const handle = await open(join(folder, name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK).catch((error: unknown) => {
    if (['ELOOP', 'ENXIO', 'EMLINK'].includes(errorCode(error) ?? '')) return refuse();
    throw unreadable(error, folder, name);
  });
  try {
    const found = await handle.stat();
    if (!found.isFile() || found.size > maxBytes) refuse();
    if (found.size > 0) yield* handle.createReadStream({ end: found.size - 1, autoClose: false });
  } finally {
    await handle.close();
  }
}

async function readPart(folder: string, name: string): Promise<Buffer> {
  return await buffer(contentOf(folder, name, MAX_TEXT_BYTES));
}

async function hashOf(folder: string, name: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of contentOf(folder, name, MAX_TEXT_BYTES)) hash.update(chunk);
  return hash.digest('hex');
}

async function copyAndHash(folder: string, to: string): Promise<string> {
  const measured = measure();
  const content = contentOf(folder, BUNDLE, DEPLOYMENT_LIMITS.maxBundleBytes);
  await pipeline(content, measured.stream, createWriteStream(to, { flags: 'wx', flush: true }));
  return measured.result().sha256;
}

async function readHead(
  bundle: string,
  folder: string,
  publicKey: string | undefined,
): Promise<Omit<Carried, 'sha256'>> {
  try {
    const head = await readArchiveHead(bundle, DEPLOYMENT_LIMITS);
    checkHead({ publicKey }, head);
    const manifest = checkManifest(head.manifest, DEPLOYMENT_LIMITS);
    return { manifest, integrity: integrityOf(sha256Hex(head.manifest)) };
  } catch (error) {
    if (error instanceof BundleInvalidError) throw new UsageError(`${folder}: ${BUNDLE}: ${error.message}`);
    throw error;
  }
}

function wrongSum(folder: string, name: string): UsageError {
  return new UsageError(`${folder}: ${name} doesn't match ${SUMS}: copy the folder again`);
}

function unreadable(error: unknown, folder: string, name: string): UsageError {
  const problem = isMissing(error) ? 'is missing' : "can't be read";
  return new UsageError(`${folder}: ${name} ${problem}; expected a folder with ${BUNDLE}, ${VALUES} and ${SUMS}`);
}

export function isMissing(error: unknown): boolean {
  const code = errorCode(error);
  return code === 'ENOENT' || code === 'ENOTDIR';
}
