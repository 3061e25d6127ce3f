import { rm } from 'node:fs/promises';
import type { Logger } from 'pino';
import { BundleInvalidError } from '../../bundle/errors.ts';
import { linkFingerprint, linkLabel, resourceFingerprint, sha256InLink } from '../../bundle/fetch/link.ts';
import type { BundleLimits } from '../../bundle/manifest.ts';
import { BundleRefusedError, VersionPinnedError } from '../errors.ts';
import type { ServedSite } from '../site.ts';
import { checkPin, checkStored, checkVersion, isAccepted, type Required } from './authenticity.ts';
import type { UnpackRequest } from './fetch-bundle.ts';
import type { Fetcher } from './fetch-process.ts';
import type { ServedState } from './served.ts';
import type { VersionStore } from './version-store.ts';

type AcquireDeps = {
  store: VersionStore;
  fetcher: Fetcher;
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
  readonly #pinErrors = new Map<string, VersionPinnedError>();
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
    const mayKeep = sameLink && fits && !revalidate && (await isAccepted(requiredOnDisk(request), current));
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
    const { link, current, pinnedVersion, required, signal, onProgress } = request;
    const { store, fetcher, downloadsFolder: downloads, limits, logger } = this.#deps;
    const sites = current === undefined ? [] : await this.#versionsOnDisk(request);
    const versions = sites.map(({ archiveSha256: name, root }) => ({ name, root }));
    const wanted = { pinnedVersion, required, limits, staging: store.stage() };
    const releases = sites.map((site) => site.hold());
    const from = linkLabel(link);
    try {
      const job = { ...wanted, link: link.href, etag, downloads, versions };
      const fetched = await fetcher.fetch(job, { signal, onProgress });
      if (fetched.kind === 'archive') {
        const { file, sha256, sizeBytes, instead } = fetched;
        if (instead !== undefined) logger.warn({ from }, `Fetched the whole bundle instead of its changes: ${instead}`);
        logger.info({ from, sizeBytes, sha256 }, 'Fetched the bundle');
        return { site: await this.#openArchive(request, { ...wanted, archive: file }, sha256), etag: fetched.etag };
      }
      if (fetched.kind === 'staged') {
        const { name, archiveBytes, fetchedBytes, fetchedFiles } = fetched;
        logger.info({ from, archiveBytes, fetchedBytes, fetchedFiles }, 'Fetched the changes of the bundle');
        return { site: await store.keep(wanted.staging, name), etag: fetched.etag };
      }
      const site = fetched.kind === 'unchanged' ? current : sites.find((each) => each.archiveSha256 === fetched.name);
      if (site === undefined) throw new Error('a server called bytes unchanged that were never held');
      return { site, etag: fetched.kind === 'unchanged' ? etag : fetched.etag };
    } finally {
      // Renamed already unless something failed.
      await store.discard(wanted.staging);
      for (const release of releases) release();
    }
  }

  async #openArchive({ link, pinnedVersion, signal }: AcquireRequest, job: UnpackRequest, sha256: string) {
    const { store, fetcher } = this.#deps;
    try {
      const site = await this.#fromDisk(sha256, pinnedVersion);
      if (site !== undefined) return site;
      await fetcher.unpack(job, { signal });
      return await store.keep(job.staging, sha256);
    } catch (error) {
      if (error instanceof VersionPinnedError) this.#pinErrors.set(sha256, error);
      const isBad = error instanceof BundleInvalidError && !(error instanceof BundleRefusedError);
      if (isBad && sha256InLink(link) === sha256) this.#knownBad.set(sha256, error.message);
      throw error;
    } finally {
      await rm(job.archive, { force: true });
    }
  }

  async #versionsOnDisk({ current, state }: AcquireRequest): Promise<ServedSite[]> {
    const opened = await Promise.all(state.previous.map((name) => this.#deps.store.open(name)));
    return [current, ...opened].flatMap((site) => site ?? []);
  }

  async #fromDisk(archiveSha256: string, pinnedVersion: string | undefined): Promise<ServedSite | undefined> {
    const bad = this.#knownBad.get(archiveSha256);
    if (bad !== undefined) throw new BundleInvalidError(bad);
    const known = this.#pinErrors.get(archiveSha256);
    if (known !== undefined) checkVersion(pinnedVersion, known);
    const site = await this.#deps.store.open(archiveSha256);
    if (site !== undefined) checkPin(pinnedVersion, site.manifest);
    return site;
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
