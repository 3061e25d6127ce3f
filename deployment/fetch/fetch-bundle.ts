import { createHash } from 'node:crypto';
import { mkdir, rm } from 'node:fs/promises';
import { errorText, isSystemError } from '../../base/error-code.ts';
import { sha256Hex } from '../../base/sha256.ts';
import { BundleUnavailableError } from '../../bundle/errors.ts';
import { downloadBundle, prepareDownload } from '../../bundle/fetch/download.ts';
import type { BundleResponse } from '../../bundle/fetch/http-source.ts';
import { openPartialSource, type PartialSource } from '../../bundle/fetch/partial-source.ts';
import { type BundleLimits, checkManifest } from '../../bundle/manifest.ts';
import type { BundleManifest } from '../../contract/bundle.ts';
import { BundleRefusedError, VersionPinnedError } from '../errors.ts';
import { assembleVersion } from './assemble-version.ts';
import { checkHead, checkPin, isAccepted, type Required } from './authenticity.ts';
import { readStored } from './stored-version.ts';
import { createTreeWriter } from './tree-writer.ts';
import { unpackBundle } from './unpack.ts';

/** What runs in the process of its own (fetch-process.ts): all that reads bytes from outside. */
type Wanted = {
  pinnedVersion: string | undefined;
  required: Required;
  limits: BundleLimits & { maxBundleBytes: number };
  /** The folder to make for the version's files. The caller keeps or removes it. */
  staging: string;
};

export type FetchRequest = Wanted & {
  link: string;
  /** The ETag of the served version's bytes at this resource. */
  etag: string | undefined;
  downloads: string;
  /** Versions on the disk by name, whose unchanged files are linked; none: the whole archive is fetched. */
  versions: readonly { name: string; root: string }[];
};

/** `name` is the version's (`ServedSite`); `etag` that of its bytes. */
export type Fetched =
  | { kind: 'unchanged' }
  /** The version is on the disk already. */
  | { kind: 'stored'; name: string; etag: string | undefined }
  /** Only the changes were fetched: the version is in the staging folder. */
  | {
      kind: 'staged';
      name: string;
      etag: string | undefined;
      archiveBytes: number;
      fetchedBytes: number;
      fetchedFiles: number;
    }
  /** `instead`: why the changes alone couldn't be fetched. */
  | {
      kind: 'archive';
      file: string;
      sha256: string;
      sizeBytes: number;
      etag: string | undefined;
      instead: string | undefined;
    };

export type Activity = {
  signal: AbortSignal;
  onProgress(receivedBytes: number, totalBytes: number | undefined): void;
};

type WholeOnly = { response?: BundleResponse | undefined; instead?: string };

/**
 * Fetches a bundle with little traffic: nothing if the server says that the bytes are unchanged, and of another version
 * only the changed members, if the server offers ranges.
 */
export async function fetchBundle(request: FetchRequest, activity: Activity): Promise<Fetched> {
  const { etag, downloads: folder, limits } = request;
  const link = new URL(request.link);
  const parts = await fetchParts(request, link, activity);
  if ('kind' in parts) return parts;
  const { response, instead } = parts;
  const maxSizeBytes = limits.maxBundleBytes;
  const download = await downloadBundle({ link, etag, folder, maxSizeBytes, response, ...activity });
  return download.kind === 'unchanged' ? download : { ...download, kind: 'archive', instead };
}

/** Fetches only what isn't on the disk. Any failure that the whole archive may not have leads to that. */
async function fetchParts(request: FetchRequest, link: URL, activity: Activity): Promise<Fetched | WholeOnly> {
  const { etag, versions, limits, downloads } = request;
  const { signal } = activity;
  const isResumable = await prepareDownload(link, downloads);
  if (isResumable || versions.length === 0 || link.protocol === 'file:') return {};
  try {
    const opened = await openPartialSource(link, etag, { signal, maxSizeBytes: limits.maxBundleBytes });
    if (opened.kind === 'unchanged') return opened;
    if (opened.kind === 'whole') return { response: opened.response };
    return (await assemble(request, opened.source, activity)) ?? {};
  } catch (error) {
    signal.throwIfAborted();
    const isRejected = error instanceof BundleUnavailableError && error.status !== null;
    const isFinal = error instanceof VersionPinnedError || error instanceof BundleRefusedError;
    if (isRejected || isFinal || isSystemError(error)) throw error;
    return { instead: errorText(error) };
  }
}

async function assemble(
  { pinnedVersion, required, limits, versions, staging }: FetchRequest,
  source: PartialSource,
  { signal, onProgress }: Activity,
): Promise<Fetched | undefined> {
  const { head, etag, archiveBytes } = source;
  checkHead(required, head);
  const manifest = checkManifest(head.manifest, limits);
  checkPin(pinnedVersion, manifest);
  const stored = await Promise.all(versions.map(async ({ name, root }) => ({ name, ...(await readStored(root)) })));
  const manifestSha256 = sha256Hex(head.manifest);
  for (const version of stored) {
    const isSame = version.manifestSha256 === manifestSha256 && (await isAccepted(required, version));
    if (isSame) return { kind: 'stored', name: version.name, etag };
  }
  const name = createHash('sha256')
    .update(head.manifest)
    .update(head.signature ?? '')
    .digest('hex');
  await mkdir(staging);
  const writer = createTreeWriter(staging);
  try {
    const assembled = await assembleVersion({ source, manifest, versions: stored, writer, signal, onProgress });
    return assembled && { kind: 'staged', name, etag, archiveBytes, ...assembled };
  } finally {
    await writer.abandon();
  }
}

export type UnpackRequest = Wanted & { archive: string };

/** Unpacks a fetched archive into the staging folder. */
export async function unpackFetched(request: UnpackRequest, { signal }: Pick<Activity, 'signal'>): Promise<void> {
  const { archive, staging: folder, limits, required, pinnedVersion } = request;
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder);
  const accept = (manifest: BundleManifest): void => checkPin(pinnedVersion, manifest);
  await unpackBundle({ archive, folder, limits, required, signal, accept });
}
