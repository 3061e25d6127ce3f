import { forEachToItsEnd } from '../../../base/for-each-to-its-end.ts';
import type { BundleFile, BundleManifest } from '../../../contract/bundle.ts';
import type { DeploymentReport, DeploymentWrite } from '../deployment-target.ts';
import { orderOf, refusedReport, type WrittenOrder, writtenReport } from '../write-order.ts';
import { foldersOf } from './redirects.ts';
import { stageBundle } from './stage-bundle.ts';
import type { Staging } from './staging.ts';

/** What a place remembers of what is in it. */
export type PublishedState = WrittenOrder & {
  /** False while a version is being written. */
  complete: boolean;
  /** The hash of each file; empty if it may be half written. */
  files: Record<string, string>;
  /** Files of the version before, kept because pages that are open in browsers may still ask for them. */
  retired: string[];
};

/** A file to publish: from the bundle, or made for the host. */
export type NewFile = {
  path: string;
  sha256: string;
  contentType: string;
  /** Missing for a file of the bundle, or a copy of one under another path. */
  content?: Buffer;
  /** The place itself can redirect here. */
  redirectTo?: string;
};

/** A folder or bucket whose files a web server serves. */
export type PublishedPlace = {
  readState(): Promise<PublishedState | null>;
  writeState(state: PublishedState): Promise<void>;
  /** Throws if another writer has taken over. Called before each step that visitors see, and while many files are put. */
  checkOwner(): Promise<void> | void;
  /** The files that are missing or have been changed by someone else, of those that the state names. */
  findDamage(state: PublishedState): Promise<ReadonlySet<string>>;
  /** Whether a file that may be half written has exactly these bytes. */
  holds(file: NewFile): Promise<boolean>;
  /** It has folders: no path is a file and a folder at once. */
  hasFolders?: boolean;
  /** The files for a version, in any order. */
  filesOf(manifest: BundleManifest): NewFile[];
  /** Puts one file in its place, at once. `source` is the path of its bytes. */
  put(file: NewFile, source: string): Promise<void>;
  remove(paths: readonly string[]): Promise<void>;
};

/** Files that are written at the same time. */
const WRITES = 16;
/** Files that are checked at the same time. */
const CHECKS = 32;

/** How often the owner is checked while files are put: in a bucket, each check is a request. */
const OWNER_CHECK_MS = 5_000;

type Options = { staging: Staging; signal: AbortSignal };

/**
 * Brings a place to the version of a write: first what pages need, then the pages, and deletions last, so that no visitor
 * sees a page without its files. Only changed files are fetched and written. A write that is canceled or killed is
 * continued by the next one, of whatever version: it neither fetches nor writes again what is staged or in place.
 */
export async function publishFiles(
  place: PublishedPlace,
  write: DeploymentWrite,
  { staging, signal }: Options,
): Promise<DeploymentReport> {
  const current = await place.readState();
  const refusal = refusedReport(write, current);
  if (refusal !== null) return refusal;
  const damaged = current === null ? new Set<string>() : await place.findDamage(current);
  const order = orderOf(write, current);
  if (current?.complete && current.jobId === write.jobId && damaged.size === 0) {
    await writeOwnState(place, { ...current, ...order });
  } else {
    const version = await stageVersion(place, write, { current, damaged, staging, signal });
    await replaceVersion(place, { current, order, version, staging, signal });
  }
  await staging.clear();
  return writtenReport(write);
}

type Version = {
  wanted: ReadonlyMap<string, NewFile>;
  /** The hashes of the files that the place has for sure. */
  intact: ReadonlyMap<string, string>;
  /** The wanted files that aren't intact. */
  changed: NewFile[];
};

type Before = Options & { current: PublishedState | null; damaged: ReadonlySet<string> };

async function stageVersion(
  place: PublishedPlace,
  write: DeploymentWrite,
  { current, damaged, staging, signal }: Before,
): Promise<Version> {
  let version: Version = { wanted: new Map(), intact: new Map(), changed: [] };
  await stageBundle(write, {
    staging,
    signal,
    async choose(manifest) {
      const wanted = new Map(place.filesOf(manifest).map((file) => [file.path, file]));
      const intact = await findIntact(place, { current, damaged, wanted, signal });
      const changed = [...wanted.values()].filter(({ path, sha256 }) => intact.get(path) !== sha256);
      version = { wanted, intact, changed };
      const needed = new Set(changed.filter(({ content }) => content === undefined).map(({ sha256 }) => sha256));
      return await chooseUnstaged(
        manifest.files.filter(({ sha256 }) => needed.has(sha256)),
        { staging, signal },
      );
    },
  });
  return version;
}

type ToCheck = Omit<Before, 'staging'> & { wanted: ReadonlyMap<string, NewFile> };

async function findIntact(
  place: PublishedPlace,
  { current, damaged, wanted, signal }: ToCheck,
): Promise<Map<string, string>> {
  const known = Object.entries(current?.files ?? {}).filter(([path]) => !damaged.has(path));
  const intact = new Map(known.filter(([, sha256]) => sha256 !== ''));
  const unsure = known.flatMap(([path, sha256]) => (sha256 === '' ? (wanted.get(path) ?? []) : []));
  await forEachToItsEnd(unsure, CHECKS, async (file) => {
    signal.throwIfAborted();
    if (await place.holds(file)) intact.set(file.path, file.sha256);
  });
  return intact;
}

/** Those to fetch, one for each content. What is staged for other versions only is removed. */
async function chooseUnstaged(files: readonly BundleFile[], { staging, signal }: Options): Promise<BundleFile[]> {
  const byContent = new Map(files.map((file) => [file.sha256, file]));
  await staging.keepOnly(new Set(byContent.keys()));
  const missing: BundleFile[] = [];
  await forEachToItsEnd(byContent.values(), CHECKS, async (file) => {
    signal.throwIfAborted();
    if (!(await staging.has(file))) missing.push(file);
  });
  return missing;
}

type Replacement = Options & { current: PublishedState | null; order: WrittenOrder; version: Version };

async function replaceVersion(place: PublishedPlace, replacement: Replacement): Promise<void> {
  const { current, order, version } = replacement;
  const { wanted, intact, changed } = version;
  const before = { ...current?.files, ...Object.fromEntries(intact) };
  const unsure = Object.fromEntries(changed.map(({ path }) => [path, '']));
  const retired = current?.retired ?? [];
  // If the process dies from here on, the next write knows which files it may find.
  await writeOwnState(place, { ...order, complete: false, files: { ...before, ...unsure }, retired });

  const outdated = [...new Set([...Object.keys(before), ...retired])].filter((path) => !wanted.has(path));
  const inTheWay = place.hasFolders ? blocking(outdated, wanted) : new Set<string>();
  if (inTheWay.size > 0) {
    await place.checkOwner();
    await place.remove([...inTheWay]);
  }
  const put: Record<string, string> = {};
  try {
    await putAll(place, replacement, put);
  } catch (error) {
    // So that the next write needn't check those that were not begun. If this fails too, it checks all.
    await writeOwnState(place, { ...order, complete: false, files: { ...before, ...put }, retired }).catch(() => {});
    throw error;
  }

  await place.checkOwner();
  const left = outdated.filter((path) => !inTheWay.has(path));
  const pages = new Set(Object.entries(before).flatMap(([path, sha256]) => (isPageName(path) ? [sha256] : [])));
  const kept = new Set(left.filter((path) => Object.hasOwn(before, path) && !pages.has(before[path] ?? '')));
  const removed = left.filter((path) => !kept.has(path));
  const files = Object.fromEntries([...wanted.values()].map(({ path, sha256 }) => [path, sha256]));
  await place.remove(removed);
  await writeOwnState(place, { ...order, complete: true, files, retired: [...kept] });
}

/**
 * Puts the changed files, pages last.
 * @param put gets the hash of each file that is in place, and an empty text for one that may be
 */
async function putAll(
  place: PublishedPlace,
  { version: { changed }, staging, signal }: Replacement,
  put: Record<string, string>,
): Promise<void> {
  const seen = new Set<string>();
  const repeated = new Set<string>();
  for (const { sha256 } of changed) (seen.has(sha256) ? repeated : seen).add(sha256);
  for (const files of [changed.filter((file) => !isPage(file)), changed.filter(isPage)]) {
    await place.checkOwner();
    const checkOwner = atMostEvery(OWNER_CHECK_MS, () => place.checkOwner());
    await forEachToItsEnd(files, WRITES, async (file) => {
      signal.throwIfAborted();
      await checkOwner();
      const source = await staging.take(file, repeated.has(file.sha256));
      put[file.path] = '';
      await place.put(file, source);
      put[file.path] = file.sha256;
    });
  }
}

/**
 * Another write may have claimed the place since the state was read: the download takes minutes. Overwritten, the claim
 * would be lost, and the place would have the older version.
 */
async function writeOwnState(place: PublishedPlace, state: PublishedState): Promise<void> {
  await place.checkOwner();
  await place.writeState(state);
}

/** The first check is due after the interval. Callers in between share the latest result, so that all stop at a failure. */
function atMostEvery(intervalMs: number, check: () => Promise<void> | void): () => Promise<void> {
  let checkedAtMs = performance.now();
  let latest = Promise.resolve();
  return async () => {
    if (performance.now() - checkedAtMs >= intervalMs) {
      checkedAtMs = performance.now();
      latest = (async () => await check())();
    }
    await latest;
  };
}

/** Those with the name of a folder that the wanted files need, or in a folder with the name of a wanted file. */
function blocking(outdated: readonly string[], wanted: ReadonlyMap<string, NewFile>): ReadonlySet<string> {
  const folders = new Set([...wanted.keys()].flatMap(foldersOf));
  return new Set(outdated.filter((path) => folders.has(path) || foldersOf(path).some((folder) => wanted.has(folder))));
}

function isPageName(path: string): boolean {
  return /\.html?$/.test(path);
}

function isPage({ contentType }: NewFile): boolean {
  return /^text\/html\b/i.test(contentType);
}
