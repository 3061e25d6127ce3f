import { createHash, randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import {
  DeleteObjectsCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
  S3ServiceException,
} from '@aws-sdk/client-s3';
import { sha256Hex } from '../../../base/sha256.ts';
import { GALLEY_FOLDER, isReserved, pathProblem } from '../../../bundle/path.ts';
import { encodePath } from '../../../bundle/url.ts';
import type { BundleFile, BundleManifest, BundleRedirect } from '../../../contract/bundle.ts';
import { cacheControl } from '../../../contract/response-headers.ts';
import type { S3Target } from '../../../contract/target-kind.ts';
import { originalUrls } from '../bundle/original-urls.ts';
import { type NewFile, type PublishedPlace, type PublishedState, publishFiles } from '../bundle/publish-files.ts';
import { parsePublishedState } from '../bundle/published-state.ts';
import { foldersOf, redirectPages } from '../bundle/redirects.ts';
import { createStaging, dropOldStaging } from '../bundle/staging.ts';
import type { DeploymentTarget, DeploymentWrite, TargetCheck } from '../deployment-target.ts';
import { withFileLock } from '../file-lock.ts';
import { fencedOutcome } from '../write-order.ts';

const STATE_KEY = `${GALLEY_FOLDER}/deployed.json`;

/** The limit of a DeleteObjects call. */
const DELETE_BATCH = 1000;

/**
 * A bucket, or a prefix in one, for a CDN or the bucket's own website. Redirects are objects that the website redirects,
 * and also pages, for other servers. Without keys of the target, credentials come from the standard AWS chain.
 * @param stagingFolder for files on their way to any bucket
 */
export function createS3Target(
  target: S3Target,
  stagingFolder: string,
): DeploymentTarget & Required<Pick<DeploymentTarget, 'check'>> {
  const staged = join(stagingFolder, sha256Hex(JSON.stringify([target.endpoint, target.bucket, target.prefix])));
  return {
    async write(write, { signal }) {
      await mkdir(stagingFolder, { recursive: true, mode: 0o700 });
      await dropOldStaging(stagingFolder);
      const client = clientOf(target);
      try {
        const place = placeIn({ client, target, write, signal });
        return await withFileLock(staged, () => publishFiles(place, write, { staging: createStaging(staged), signal }));
      } finally {
        client.destroy();
      }
    },
    check: ({ signal }) => checkBucket(target, signal),
  };
}

function clientOf({ endpoint, region, pathStyle, credentials }: S3Target): S3Client {
  return new S3Client({
    ...(endpoint !== undefined && { endpoint }),
    ...(region !== undefined && { region }),
    ...(credentials !== undefined && { credentials: keysOf(credentials) }),
    forcePathStyle: pathStyle,
    // Servers other than AWS often don't support the newer checksums.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: { connectionTimeout: 5_000, socketTimeout: 60_000 },
  });
}

function keysOf({ accessKeyId, secretAccessKey, sessionToken }: NonNullable<S3Target['credentials']>) {
  return { accessKeyId, secretAccessKey, ...(sessionToken !== undefined && { sessionToken }) };
}

/** Stores, lists, reads and deletes a small object: what a deploy does too. */
async function checkBucket(target: S3Target, signal: AbortSignal): Promise<TargetCheck> {
  const place = `s3://${target.bucket}/${target.prefix}`;
  const client = clientOf(target);
  const object = { Bucket: target.bucket, Key: `${target.prefix}${GALLEY_FOLDER}/doctor-${randomUUID()}` };
  let step = 'listed';
  try {
    await client.send(new ListObjectsV2Command({ Bucket: target.bucket, Prefix: target.prefix, MaxKeys: 1 }), {
      abortSignal: signal,
    });
    step = 'written';
    await client.send(new PutObjectCommand({ ...object, Body: 'galley doctor' }), { abortSignal: signal });
    step = 'read';
    await (await client.send(new GetObjectCommand(object), { abortSignal: signal })).Body?.transformToString();
    step = 'deleted from';
    const { Bucket, Key } = object;
    const deleted = new DeleteObjectsCommand({ Bucket, Delete: { Objects: [{ Key }] } });
    const [failed] = (await client.send(deleted, { abortSignal: signal })).Errors ?? [];
    if (failed !== undefined) throw new Error(failed.Code ?? failed.Message);
    return { message: `${place} can be listed, read and written`, fix: null };
  } catch (error) {
    const reason = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    const fix =
      'Check the bucket, its region and endpoint, and the keys. They need s3:ListBucket on the bucket, and s3:GetObject, ' +
      's3:PutObject and s3:DeleteObject on its objects.';
    return { message: `${place} can't be ${step} (${reason.slice(0, 200)})`, fix };
  } finally {
    client.destroy();
  }
}

/** The object's metadata with the hash of its file. */
const HASH = 'galley-sha256';

/** A canceled write still stores which files it has put, but not for long. */
const LAST_STATE_MS = 1_500;

type Bucket = { client: S3Client; target: S3Target; write: DeploymentWrite; signal: AbortSignal };

function placeIn(bucket: Bucket): PublishedPlace {
  const { client, target, write, signal } = bucket;
  const { bucket: Bucket, prefix } = target;
  const place: PublishedPlace = {
    async readState() {
      const text = await readObject(bucket, STATE_KEY);
      return text === null ? null : parsePublishedState(text);
    },
    async writeState(state) {
      const Key = prefix + STATE_KEY;
      const Body = JSON.stringify(state);
      const about = { ContentType: 'application/json', CacheControl: 'no-store' };
      const abortSignal = signal.aborted ? AbortSignal.timeout(LAST_STATE_MS) : signal;
      await client.send(new PutObjectCommand({ Bucket, Key, Body, ...about }), { abortSignal });
    },
    // A bucket has no locks: the last writer that claimed it goes on.
    async checkOwner() {
      const state = await place.readState();
      if (state !== null && fencedOutcome(write, state) !== null) throw new Error('a newer write has begun meanwhile');
    },
    findDamage: (state) => findDamage(bucket, state),
    async holds({ path, sha256 }) {
      const head = new HeadObjectCommand({ Bucket, Key: prefix + path });
      return (await client.send(head, { abortSignal: signal })).Metadata?.[HASH] === sha256;
    },
    filesOf: (manifest) => filesOf(manifest, target),
    async put({ path, contentType, sha256, redirectTo }, source) {
      const { size } = await stat(source);
      const about = { ContentType: contentType, CacheControl: cacheControl(path), Metadata: { [HASH]: sha256 } };
      const object = { Bucket, Key: prefix + path, ...about, ContentLength: size };
      const redirect = redirectTo === undefined ? {} : { WebsiteRedirectLocation: redirectTo };
      const put = new PutObjectCommand({ ...object, ...redirect, Body: createReadStream(source) });
      await client.send(put, { abortSignal: signal });
    },
    async remove(paths) {
      for (let start = 0; start < paths.length; start += DELETE_BATCH) {
        const Objects = paths.slice(start, start + DELETE_BATCH).map((path) => ({ Key: prefix + path }));
        const command = new DeleteObjectsCommand({ Bucket, Delete: { Objects, Quiet: true } });
        const { Errors = [] } = await client.send(command, { abortSignal: signal });
        const [first] = Errors.filter(({ Code }) => Code !== 'NoSuchKey');
        if (first) throw new Error(`${first.Key} was not deleted: ${first.Code}`);
      }
    },
  };
  return place;
}

async function readObject({ client, target, signal }: Bucket, path: string): Promise<string | null> {
  const command = new GetObjectCommand({ Bucket: target.bucket, Key: target.prefix + path });
  const abortSignal = signal.aborted ? AbortSignal.timeout(LAST_STATE_MS) : signal;
  try {
    const { Body } = await client.send(command, { abortSignal });
    return (await Body?.transformToString()) ?? '';
  } catch (error) {
    if (error instanceof S3ServiceException && error.name === 'NoSuchKey') return null;
    throw error;
  }
}

/** The published files that the bucket doesn't list any more. */
async function findDamage({ client, target, signal }: Bucket, { files }: PublishedState): Promise<ReadonlySet<string>> {
  const missing = new Set(Object.keys(files));
  let ContinuationToken: string | undefined;
  do {
    const command = new ListObjectsV2Command({ Bucket: target.bucket, Prefix: target.prefix, ContinuationToken });
    const page = await client.send(command, { abortSignal: signal });
    for (const { Key = '' } of page.Contents ?? []) missing.delete(Key.slice(target.prefix.length));
    ContinuationToken = page.IsTruncated ? page.NextContinuationToken : undefined;
  } while (ContinuationToken !== undefined);
  return missing;
}

/** The files to upload. It omits precompressed copies, because a bucket can't negotiate an encoding. */
function filesOf(manifest: BundleManifest, { endpoint }: S3Target): NewFile[] {
  const own = manifest.files.filter(({ encoding }) => encoding === undefined);
  const files = manifest.foreign === undefined ? own : own.map(withPageUrl);
  const keys = new Set(files.map(({ path }) => path));
  const folders = new Set(files.flatMap(({ path }) => foldersOf(path)));
  // Other servers than AWS may not store an object beside a folder of its name.
  const isFree = (key: string): boolean => !keys.has(key) && (endpoint === undefined || !folders.has(key));
  const copies = copiesAtUrls(files).filter(({ path }) => !keys.has(path));
  const redirects = [...manifest.redirects, ...copies.filter(({ path }) => !isFree(path)).map(fromFolder)];
  const pages = redirectPages({ files, redirects }, { everyName: true }).map(({ path, from, to, html }): NewFile => {
    // The website looks for the path that was requested.
    const isPage = from === '' || from.endsWith('/') || !isFree(from);
    const content = Buffer.from(html);
    const sha256 = createHash('sha256').update(`${to}\n`).update(content).digest('hex');
    return { path: isPage ? path : from, contentType: 'text/html; charset=utf-8', content, sha256, redirectTo: to };
  });
  const moved = new Set(pages.map(({ path }) => path));
  return [
    ...files.map(({ path, sha256, contentType }) => ({ path, sha256, contentType })),
    ...pages,
    ...copies.filter(({ path }) => isFree(path) && !moved.has(path)),
  ];
}

/** Of a bundle that names no URLs: static hosts find a page without its name's end. */
function withPageUrl(file: BundleFile): BundleFile {
  const isPage = /(?<!(?:^|\/)index|^404)\.html$/.test(file.path);
  return isPage ? { ...file, url: `/${encodePath(file.path.slice(0, -'.html'.length))}` } : file;
}

type Copy = NewFile & { of: string };

/**
 * A bucket rewrites no URL, so a file that had another one at the origin is also stored there. The website ignores
 * queries: of several with one path, only the file without a query is stored there.
 */
function copiesAtUrls(files: readonly BundleFile[]): Copy[] {
  const originals = originalUrls(files);
  const count = new Map<string, number>();
  for (const { name } of originals) count.set(name, (count.get(name) ?? 0) + 1);
  return originals.flatMap(({ file, name, search }) => {
    const path = name === '' || name.endsWith('/') ? `${name}index.html` : name;
    if ((search !== '' && count.get(name) !== 1) || pathProblem(path) !== undefined || isReserved(path)) return [];
    return [{ path, of: file.path, sha256: file.sha256, contentType: file.contentType }];
  });
}

/** For a path that is also a folder, the website looks for the folder's index page. */
function fromFolder({ path, of }: Copy): BundleRedirect {
  return { from: `/${encodePath(path)}/`, to: `/${encodePath(of)}`, status: 302 };
}
