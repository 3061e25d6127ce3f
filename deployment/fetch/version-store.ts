import { randomUUID } from 'node:crypto';
import { mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { syncToDisk } from '../../base/durable-file.ts';
import { createSite, type ServedSite } from '../site.ts';
import { readStored, type StoredVersion } from './stored-version.ts';

const STAGING_PREFIX = '.staging-';

/** Files checked at once when a version is opened: one by one is slow, all at once needs many handles. */
const STAT_BATCH = 64;

export type VersionStore = {
  /** A folder that doesn't exist yet, to be made for a version. */
  stage(): string;
  discard(staging: string): Promise<void>;
  /** Turns a staged version, which must be complete, into a stored one, in one rename. */
  keep(staging: string, archiveSha256: string): Promise<ServedSite>;
  /** A stored version; undefined if it is missing or incomplete. */
  open(archiveSha256: string): Promise<ServedSite | undefined>;
  /** Deletes all versions but the named ones, each as soon as no request reads it. */
  prune(kept: ReadonlySet<string>): Promise<void>;
};

/**
 * Stores versions in `folder`, each named by its archive's SHA-256 (`ServedSite`). Removes leftovers of a killed process immediately.
 */
export async function openVersionStore(folder: string): Promise<VersionStore> {
  const opened = new Map<string, ServedSite>();
  const removing = new Map<string, Promise<void>>();
  let wanted = new Set<string>();
  await mkdir(folder, { recursive: true });
  for (const name of await readdir(folder)) {
    if (name.startsWith(STAGING_PREFIX)) await rm(join(folder, name), { recursive: true, force: true });
  }

  function register(archiveSha256: string, { root, manifest, ...stored }: StoredVersion): ServedSite {
    const site = createSite(root, archiveSha256, manifest, stored);
    opened.set(archiveSha256, site);
    return site;
  }

  async function removeWhenIdle(name: string): Promise<void> {
    if (!wanted.has(name)) await opened.get(name)?.idle();
    // It may be needed again since the slow request began to read it.
    if (wanted.has(name)) return;
    opened.delete(name);
    const removal = rm(join(folder, name), { recursive: true, force: true }).finally(() => removing.delete(name));
    removing.set(name, removal);
    await removal;
  }

  return {
    stage: () => join(folder, `${STAGING_PREFIX}${randomUUID()}`),
    discard: (staging) => rm(staging, { recursive: true, force: true }),

    async keep(staging, archiveSha256) {
      await removing.get(archiveSha256);
      wanted.add(archiveSha256);
      const target = join(folder, archiveSha256);
      // What is there must be incomplete: otherwise it would have been opened.
      await rm(target, { recursive: true, force: true });
      await rename(staging, target);
      await syncToDisk(folder);
      return register(archiveSha256, await readStored(target));
    },

    async open(archiveSha256) {
      await removing.get(archiveSha256);
      wanted.add(archiveSha256);
      const already = opened.get(archiveSha256);
      if (already !== undefined) return already;
      try {
        const stored = await readStored(join(folder, archiveSha256));
        return (await isComplete(stored)) ? register(archiveSha256, stored) : undefined;
      } catch {
        return undefined;
      }
    },

    async prune(kept) {
      wanted = new Set(kept);
      const names = (await readdir(folder)).filter((name) => !name.startsWith(STAGING_PREFIX));
      await Promise.all(names.map(removeWhenIdle));
    },
  };
}

async function isComplete({ root, manifest: { files } }: StoredVersion): Promise<boolean> {
  for (let start = 0; start < files.length; start += STAT_BATCH) {
    const checks = files.slice(start, start + STAT_BATCH).map(async ({ path, size }) => {
      const found = await stat(join(root, path));
      return found.isFile() && found.size === size;
    });
    if (!(await Promise.all(checks)).every(Boolean)) return false;
  }
  return true;
}
