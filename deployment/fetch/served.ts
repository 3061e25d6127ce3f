import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { z } from 'zod';
import { errorCode } from '../../base/error-code.ts';
import { replaceFile } from '../../base/replace-file.ts';
import { linkFingerprint, resourceFingerprint } from '../../bundle/fetch/link.ts';
import type { BundleManifest } from '../../contract/bundle.ts';
import type { ServedSite } from '../site.ts';
import { readStored } from './stored-version.ts';
import type { VersionStore } from './version-store.ts';

/**
 * A deployment's state across restarts. `current` is the pointer: replacing this file is the swap. Links are stored as
 * fingerprints only.
 */
const stateSchema = z.object({
  formatVersion: z.literal(1),
  /** The last known `enabled`, for a start with an unreadable values file. */
  enabled: z.boolean(),
  current: z
    .object({
      archiveSha256: z.string(),
      since: z.string(),
      linkFingerprint: z.string(),
      resourceFingerprint: z.string(),
      etag: z.string().optional(),
    })
    .nullable(),
  /** Older versions on the disk, newest first. */
  previous: z.array(z.string()),
});
export type ServedState = z.infer<typeof stateSchema>;

const EMPTY_STATE: ServedState = {
  formatVersion: 1,
  enabled: true,
  current: null,
  previous: [],
};

export type Served = {
  state(): ServedState;
  /** The version that new requests get. */
  site(): ServedSite | undefined;
  /** Older versions, newest first: pages still open in browsers request their assets. */
  previous(): readonly ServedSite[];
  setEnabled(enabled: boolean): Promise<void>;
  /** Serves the site from the next request on and stores its source. Returns whether the site changed. */
  swap(site: ServedSite, link: URL, etag: string | undefined): Promise<boolean>;
};

type ServedOptions = {
  stateFile: string;
  store: VersionStore;
  /** How many versions besides the current one stay on the disk. */
  keepPrevious: number;
  now: () => Date;
  logger: Logger;
};

/**
 * The served version and its record on the disk. Opens the last good version, or an older one if that is damaged. The
 * pointer is written before the swap, so a restart never goes back.
 */
export async function openServed({ stateFile, store, keepPrevious, now, logger }: ServedOptions): Promise<Served> {
  let state = await readState(stateFile);
  let site: ServedSite | undefined;
  let previous: ServedSite[] = [];

  for (const archiveSha256 of [state.current?.archiveSha256, ...state.previous]) {
    const found = archiveSha256 === undefined ? undefined : await store.open(archiveSha256);
    if (found === undefined) continue;
    if (site === undefined) site = found;
    else previous.push(found);
  }
  if (site?.archiveSha256 !== state.current?.archiveSha256) {
    logger.warn({ version: site?.manifest.version }, 'The last version is damaged on the disk: serving an older one');
    state = { ...state, current: site === undefined ? null : unlinked(site), previous: previous.map(archiveOf) };
  }

  function unlinked({ archiveSha256 }: ServedSite): NonNullable<ServedState['current']> {
    return { archiveSha256, since: now().toISOString(), linkFingerprint: '', resourceFingerprint: '' };
  }

  return {
    state: () => state,
    site: () => site,
    previous: () => previous,

    async setEnabled(enabled) {
      if (state.enabled === enabled) return;
      state = { ...state, enabled };
      await replaceFile(stateFile, JSON.stringify(state), { mode: 0o600 });
    },

    async swap(next, link, etag) {
      const isOther = next.archiveSha256 !== site?.archiveSha256;
      const older = isOther && site !== undefined ? [site, ...previous] : previous;
      const nextPrevious = older.filter((each) => each.archiveSha256 !== next.archiveSha256).slice(0, keepPrevious);
      const current = {
        archiveSha256: next.archiveSha256,
        since: (isOther ? undefined : state.current?.since) ?? now().toISOString(),
        linkFingerprint: linkFingerprint(link),
        resourceFingerprint: resourceFingerprint(link),
        ...(etag === undefined ? {} : { etag }),
      };
      const nextState = { ...state, enabled: true, current, previous: nextPrevious.map(archiveOf) };
      if (JSON.stringify(nextState) !== JSON.stringify(state))
        await replaceFile(stateFile, JSON.stringify(nextState), { mode: 0o600 });
      state = nextState;
      site = next;
      previous = nextPrevious;
      const kept = new Set([next, ...nextPrevious].map(archiveOf));
      // Not awaited: a slow client may hold an old version for a long time.
      store.prune(kept).catch((error: unknown) => logger.warn({ err: error }, 'An old version could not be deleted'));
      return isOther;
    },
  };
}

function archiveOf({ archiveSha256 }: ServedSite): string {
  return archiveSha256;
}

/**
 * The manifest of the version that a deployment serves, from its folder; undefined if there is none.
 * @throws the system's error if the folder can't be read
 */
export async function readServedManifest(homeDir: string): Promise<BundleManifest | undefined> {
  try {
    const { current } = stateSchema.parse(JSON.parse(await readFile(stateFileIn(homeDir), 'utf8')));
    return current === null ? undefined : (await readStored(join(versionsIn(homeDir), current.archiveSha256))).manifest;
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof z.ZodError || errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** Where a deployment keeps what it needs after a restart. */
export const stateFileIn = (homeDir: string): string => join(homeDir, 'state.json');
export const versionsIn = (homeDir: string): string => join(homeDir, 'versions');

/** Reads the state; if it is missing or damaged, it is empty, because everything can be downloaded again. */
async function readState(file: string): Promise<ServedState> {
  try {
    return stateSchema.parse(JSON.parse(await readFile(file, 'utf8')));
  } catch {
    return EMPTY_STATE;
  }
}
