import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import pLimit from 'p-limit';
import { writeDurably } from '../../../base/durable-file.ts';
import type { BundleFile, BundleManifest } from '../../../contract/bundle.ts';
import type { DeploymentReport, DeploymentWrite } from '../deployment-target.ts';
import { orderOf, refusedReport, type WrittenOrder, writtenReport } from '../write-order.ts';
import { fetchBundle } from './fetch-bundle.ts';
import { readArchive } from './read-archive.ts';
import { foldersOf } from './redirects.ts';

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
  /** Missing for a file of the bundle. */
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

/** How often the owner is checked while files are put: in a bucket, each check is a request. */
const OWNER_CHECK_MS = 5_000;

/**
 * Brings a place to the version of a write: first what pages need, then the pages, and deletions last, so that no visitor
 * sees a page without its files. Only changed files are written.
 * @param parent the folder for the download and the changed files until they are in place
 */
export async function publishFiles(
  place: PublishedPlace,
  write: DeploymentWrite,
  { parent, signal }: { parent: string; signal: AbortSignal },
): Promise<DeploymentReport> {
  const current = await place.readState();
  const refusal = refusedReport(write, current);
  if (refusal !== null) return refusal;
  const damaged = current === null ? new Set<string>() : await place.findDamage(current);
  const order = orderOf(write, current);
  if (current?.complete && current.jobId === write.jobId && damaged.size === 0) {
    await writeOwnState(place, { ...current, ...order });
    return writtenReport(write);
  }
  const folder = await mkdtemp(join(parent, 'deploy-'));
  try {
    const intact = new Map(Object.entries(current?.files ?? {}).filter(([path]) => !damaged.has(path)));
    const staged = await stageChanges(place, write.bundleUrl, { folder, intact, signal });
    await replaceVersion(place, { current, order, staged, signal });
    return writtenReport(write);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

type Staged = {
  wanted: ReadonlyMap<string, NewFile>;
  /** Those that the place doesn't have yet, with the path of their bytes. */
  changed: { file: NewFile; source: string }[];
};

type StageOptions = { folder: string; intact: ReadonlyMap<string, string>; signal: AbortSignal };

async function stageChanges(
  place: PublishedPlace,
  bundleUrl: string,
  { folder, intact, signal }: StageOptions,
): Promise<Staged> {
  const archive = join(folder, 'bundle.tar.gz');
  await fetchBundle(bundleUrl, archive, signal);
  const wanted = new Map<string, NewFile>();
  const changed: Staged['changed'] = [];
  const stage = async (file: NewFile, content: AsyncIterable<Buffer> | Buffer[]): Promise<void> => {
    const source = join(folder, String(changed.length));
    changed.push({ file, source });
    await writeDurably(source, content);
  };
  const isNew = ({ path, sha256 }: Pick<BundleFile, 'path' | 'sha256'>): boolean =>
    wanted.has(path) && intact.get(path) !== sha256;
  await readArchive(
    archive,
    {
      onManifest(manifest) {
        for (const file of place.filesOf(manifest)) wanted.set(file.path, file);
      },
      async onFile(file, content) {
        const wantedFile = wanted.get(file.path);
        if (wantedFile !== undefined && isNew(file)) await stage(wantedFile, content);
      },
    },
    signal,
  );
  await rm(archive);
  for (const file of wanted.values()) {
    if (file.content !== undefined && isNew(file)) await stage(file, [file.content]);
  }
  return { wanted, changed };
}

type Replacement = { current: PublishedState | null; order: WrittenOrder; staged: Staged; signal: AbortSignal };

async function replaceVersion(place: PublishedPlace, { current, order, staged, signal }: Replacement): Promise<void> {
  const { wanted, changed } = staged;
  const before = current?.files ?? {};
  const unsure = Object.fromEntries(changed.map(({ file }) => [file.path, '']));
  const retired = current?.retired ?? [];
  // If the process dies from here on, the next write knows which files it may find.
  await writeOwnState(place, { ...order, complete: false, files: { ...before, ...unsure }, retired });

  const limit = pLimit(WRITES);
  const putAll = async (files: Staged['changed']): Promise<void> => {
    await place.checkOwner();
    const checkOwner = atMostEvery(OWNER_CHECK_MS, () => place.checkOwner());
    const puts = files.map(({ file, source }) =>
      limit(async () => {
        signal.throwIfAborted();
        await checkOwner();
        await place.put(file, source);
      }),
    );
    await settled(puts);
  };
  const outdated = [...new Set([...Object.keys(before), ...retired])].filter((path) => !wanted.has(path));
  const inTheWay = place.hasFolders ? blocking(outdated, wanted) : new Set<string>();
  if (inTheWay.size > 0) {
    await place.checkOwner();
    await place.remove([...inTheWay]);
  }
  await putAll(changed.filter(({ file }) => !isPage(file)));
  await putAll(changed.filter(({ file }) => isPage(file)));

  await place.checkOwner();
  const left = outdated.filter((path) => !inTheWay.has(path));
  const kept = new Set(
    current?.complete ? left.filter((path) => Object.hasOwn(before, path) && !/\.html?$/.test(path)) : [],
  );
  const removed = left.filter((path) => !kept.has(path));
  const files = Object.fromEntries([...wanted.values()].map(({ path, sha256 }) => [path, sha256]));
  await place.remove(removed);
  await writeOwnState(place, { ...order, complete: true, files, retired: [...kept] });
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

/** All of them, even if one fails: a write that goes on in the background could replace a newer one. */
async function settled(work: Promise<void>[]): Promise<void> {
  const failed = (await Promise.allSettled(work)).find((result) => result.status === 'rejected');
  if (failed) throw failed.reason;
}

function isPage({ contentType }: NewFile): boolean {
  return /^text\/html\b/i.test(contentType);
}
