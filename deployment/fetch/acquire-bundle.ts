import { createHash } from 'node:crypto';
import { rm } from 'node:fs/promises';
import type { Logger } from 'pino';
import { errorText, isSystemError } from '../../base/error-code.ts';
import { sha256Hex } from '../../base/sha256.ts';
import { BundleInvalidError, BundleUnavailableError } from '../../bundle/errors.ts';
import { downloadBundle, prepareDownload } from '../../bundle/fetch/download.ts';
import type { BundleResponse } from '../../bundle/fetch/http-source.ts';
import { linkFingerprint, linkLabel, resourceFingerprint, sha256InLink } from '../../bundle/fetch/link.ts';
import { openPartialSource, type PartialSource } from '../../bundle/fetch/partial-source.ts';
import { type BundleLimits, checkManifest } from '../../bundle/manifest.ts';
import { BundleRefusedError, VersionPinnedError } from '../errors.ts';
import type { ServedSite } from '../site.ts';
import { assembleVersion } from './assemble-version.ts';
import { checkHead, checkStored, isAccepted, type Required } from './authenticity.ts';
import type { ServedState } from './served.ts';
import { createTreeWriter } from './tree-writer.ts';
import { unpackBundle } from './unpack.ts';
import type { VersionStore } from './version-store.ts';

type AcquireDeps = {
  store: VersionStore;
  downloadsFolder: string;
  limits: BundleLimits & { maxBundleBytes: number };
  logger: Logger;
};

export type AcquireRequest = {
  link: URL;
  pinnedVersion: string | undefined;
  required: Required;
  state: ServedState;
  /** The version being served. */
  current: ServedSite | undefined;
  /** Send the request even for the link that is already served: its object may have been replaced. */
  revalidate: boolean;
  signal: AbortSignal;
  onProgress(receivedBytes: number, totalBytes: number | undefined): void;
};

/** `etag` validates these bytes at the link's resource; `otherVersion` is an archive that the pin rejects. */
export type Acquired = { site: ServedSite; etag: string | undefined };

/** What a link's first response shows: a version, or that the whole archive must be fetched. */
type PartialOutcome = Acquired | { response: BundleResponse | undefined };

/**
 * Gets the version that a link and a pin ask for, with little traffic: nothing is downloaded if the link's path names
 * bytes on the disk, or if the server says that they are unchanged. Of another version only the changed members are
 * fetched, if the server offers ranges.
 */
export class BundleAcquirer {
  readonly #deps: AcquireDeps;
  /** Archives whose bytes are no valid bundle: another link to one of them changes nothing. */
  readonly #knownBad = new Map<string, string>();
  /** Archives of another version than the pinned one. */
  readonly #knownVersions = new Map<string, string>();
  /** The link whose archive a pin rejected: what is served in its place isn't this link's. */
  #rejectedLink: string | undefined;

  constructor(deps: AcquireDeps) {
    this.#deps = deps;
  }

  async acquire(request: AcquireRequest): Promise<Acquired> {
    try {
      const acquired = await this.#fromLink(request);
      await checkStored(requiredOnDisk(request), acquired.site);
      if (request.pinnedVersion === undefined) this.#rejectedLink = undefined;
      return acquired;
    } catch (error) {
      if (!(error instanceof VersionPinnedError)) throw error;
      const site = await this.#pinnedFromDisk(request);
      if (site === undefined) throw error;
      await checkStored(requiredOnDisk(request), site);
      this.#rejectedLink = linkFingerprint(request.link);
      return { site, etag: undefined };
    }
  }

  async #fromLink(request: AcquireRequest): Promise<Acquired> {
    const { link, pinnedVersion, state, current, revalidate } = request;
    const pointer = current === undefined ? null : state.current;
    const fits = current !== undefined && (pinnedVersion ?? current.manifest.version) === current.manifest.version;
    const named = sha256InLink(link);
    const fingerprint = linkFingerprint(link);
    const isUnpinned = pinnedVersion === undefined && this.#rejectedLink === fingerprint;
    const sameLink = pointer?.linkFingerprint === fingerprint && !isUnpinned;
    // The object at the link may be another one by now.
    const mayKeep = sameLink && !revalidate && (await isAccepted(requiredOnDisk(request), current));
    if (fits && (named === current.archiveSha256 || mayKeep)) {
      return { site: current, etag: pointer?.etag };
    }
    if (named !== undefined) {
      const site = await this.#fromDisk(named, pinnedVersion);
      if (site !== undefined) return { site, etag: undefined };
    }
    const sameResource = fits && pointer?.resourceFingerprint === resourceFingerprint(link);
    return await this.#download(request, sameResource ? pointer.etag : undefined);
  }

  async #download(request: AcquireRequest, etag: string | undefined): Promise<Acquired> {
    const { link, pinnedVersion, current, signal, onProgress } = request;
    const { downloadsFolder: folder, limits, logger } = this.#deps;
    const partial = await this.#fromParts(request, etag);
    if ('site' in partial) return partial;
    const { response } = partial;
    const maxSizeBytes = limits.maxBundleBytes;
    const download = await downloadBundle({ link, etag, folder, maxSizeBytes, response, signal, onProgress });
    if (download.kind === 'unchanged') {
      if (current === undefined) throw new Error('a server called bytes unchanged that were never held');
      return { site: current, etag };
    }
    const { file, sha256, sizeBytes } = download;
    logger.info({ from: linkLabel(link), sizeBytes, sha256 }, 'Fetched the bundle');
    try {
      const site = (await this.#fromDisk(sha256, pinnedVersion)) ?? (await this.#unpack(file, sha256, request));
      return { site, etag: download.etag };
    } catch (error) {
      const isBad = error instanceof BundleInvalidError && !(error instanceof BundleRefusedError);
      if (isBad && sha256InLink(link) === sha256) this.#knownBad.set(sha256, error.message);
      throw error;
    } finally {
      await rm(file, { force: true });
    }
  }

  /** Fetches only what isn't on the disk. Any failure that the whole archive may not have leads to that. */
  async #fromParts(request: AcquireRequest, etag: string | undefined): Promise<PartialOutcome> {
    const { link, current, signal } = request;
    const { downloadsFolder, limits, logger } = this.#deps;
    const whole = { response: undefined };
    const isResumable = await prepareDownload(link, downloadsFolder);
    if (isResumable || current === undefined || link.protocol === 'file:') return whole;
    try {
      const opened = await openPartialSource(link, etag, { signal, maxSizeBytes: limits.maxBundleBytes });
      if (opened.kind === 'unchanged') return { site: current, etag };
      if (opened.kind === 'whole') return opened;
      return (await this.#assemble(request, opened.source)) ?? whole;
    } catch (error) {
      signal.throwIfAborted();
      const isRefused = error instanceof BundleUnavailableError && error.status !== null;
      const isFinal = error instanceof VersionPinnedError || error instanceof BundleRefusedError;
      if (isRefused || isFinal || isSystemError(error)) throw error;
      logger.warn({ from: linkLabel(link) }, `Fetching the whole bundle instead of its changes: ${errorText(error)}`);
      return whole;
    }
  }

  async #assemble(request: AcquireRequest, source: PartialSource): Promise<Acquired | undefined> {
    const { link, pinnedVersion, required, signal, onProgress } = request;
    const { store, limits, logger } = this.#deps;
    const { head, etag } = source;
    checkHead(required, head);
    const manifest = checkManifest(head.manifest, limits);
    checkPin(pinnedVersion, manifest.version);
    const sites = await this.#versionsOnDisk(request);
    const manifestSha256 = sha256Hex(head.manifest);
    for (const site of sites) {
      if (site.manifestSha256 === manifestSha256 && (await isAccepted(required, site))) return { site, etag };
    }
    const name = createHash('sha256')
      .update(head.manifest)
      .update(head.signature ?? '')
      .digest('hex');
    const staging = await store.stage();
    const writer = createTreeWriter(staging);
    const releases = sites.map((site) => site.hold());
    try {
      const assembled = await assembleVersion({ source, manifest, sites, writer, signal, onProgress });
      if (assembled === undefined) return undefined;
      const { archiveBytes } = source;
      logger.info({ from: linkLabel(link), archiveBytes, ...assembled }, 'Fetched the changes of the bundle');
      return { site: await store.keep(staging, name, manifest), etag };
    } finally {
      await writer.abandon();
      // Renamed already unless something failed.
      await store.discard(staging);
      for (const release of releases) release();
    }
  }

  async #versionsOnDisk({ current, state }: AcquireRequest): Promise<ServedSite[]> {
    const opened = await Promise.all(state.previous.map((name) => this.#deps.store.open(name)));
    return [current, ...opened].flatMap((site) => site ?? []);
  }

  async #fromDisk(archiveSha256: string, pinnedVersion: string | undefined): Promise<ServedSite | undefined> {
    const bad = this.#knownBad.get(archiveSha256);
    if (bad !== undefined) throw new BundleInvalidError(bad);
    const version = this.#knownVersions.get(archiveSha256);
    if (version !== undefined) checkPin(pinnedVersion, version);
    const site = await this.#deps.store.open(archiveSha256);
    if (site !== undefined) checkPin(pinnedVersion, site.manifest.version);
    return site;
  }

  async #unpack(
    file: string,
    sha256: string,
    { pinnedVersion, required, signal }: AcquireRequest,
  ): Promise<ServedSite> {
    const { store, limits } = this.#deps;
    const staging = await store.stage();
    try {
      const manifest = await unpackBundle({
        archive: file,
        folder: staging,
        limits,
        required,
        signal,
        accept: ({ version }) => {
          this.#knownVersions.set(sha256, version);
          checkPin(pinnedVersion, version);
        },
      });
      return await store.keep(staging, sha256, manifest);
    } catch (error) {
      await store.discard(staging);
      throw error;
    }
  }

  /** The pinned version if it is on the disk and the link points to another one. */
  async #pinnedFromDisk({ pinnedVersion, state, current }: AcquireRequest): Promise<ServedSite | undefined> {
    if (current?.manifest.version === pinnedVersion) return current;
    for (const archiveSha256 of state.previous) {
      const site = await this.#deps.store.open(archiveSha256);
      if (site?.manifest.version === pinnedVersion) return site;
    }
    return undefined;
  }
}

/** The link's integrity says nothing about a pinned version that is on the disk: it stays. */
function requiredOnDisk({ required, pinnedVersion }: AcquireRequest): Required {
  return pinnedVersion === undefined ? required : { publicKey: required.publicKey };
}

function checkPin(pinnedVersion: string | undefined, found: string): void {
  if (pinnedVersion !== undefined && pinnedVersion !== found) throw new VersionPinnedError(pinnedVersion, found);
}
