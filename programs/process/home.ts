import { randomBytes } from 'node:crypto';
import { access, constants, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { errorCode } from '../../base/error-code.ts';
import { replaceFile } from '../../base/replace-file.ts';
import { sha256Hex } from '../../base/sha256.ts';
import { ConfigurationError } from '../../contract/configuration-error.ts';
import { BASELINE } from '../../contract/names.ts';
import { isFolderLocked, lockFolder } from '../../embedded/folder-lock.ts';
import { makeFolder, makePrivate } from './make-folder.ts';

/** The URLs of the parts of a running `up`. */
const addresses = z.object({
  /** Null: an Admin API elsewhere is used. */
  platform: z.url().nullable(),
  api: z.url(),
  deployments: z.array(z.object({ valuesFile: z.string(), url: z.url() })),
  temporal: z.string(),
  temporalUi: z.url().nullable(),
  /** Serves backups on this machine. */
  control: z.url(),
});
export type RunningAddresses = z.infer<typeof addresses>;

/** What can grow in the folder: docs/operate/retention.md has the limit of each. */
export const HOME_NAMES = [
  ...(['agent-work', 'database', 'deployments', 'filtered-deliveries', 'objects', 'staging'] as const),
  ...(['temporal.db', 'values.yaml'] as const),
] as const;
type HomeName = (typeof HOME_NAMES)[number];

/**
 * GALLEY_HOME: the state of `up` between runs, and how other commands find a running one. Only its user can read it.
 */
export interface Home {
  folder: string;
  path(name: HomeName, ...names: string[]): string;
  /**
   * Creates a folder in it that only its user can read.
   * @throws ConfigurationError if that isn't possible.
   */
  makeFolder(name: HomeName, ...names: string[]): Promise<string>;
  /**
   * @throws FolderInUse if another `up` runs on it, here or in another container, ConfigurationError if the folder
   *   can't be created or holds the state of another build.
   */
  lock(): Promise<() => Promise<void>>;
  /**
   * Locks an empty folder, without the mark of this build, so that no `up` starts on a part of what is put there.
   * @throws ConfigurationError if anything else is in it, FolderInUse
   */
  lockEmpty(): Promise<() => Promise<void>>;
  /** A secret stored under this name; created by the first call. */
  secret(name: string): Promise<string>;
  readSecret(name: string): Promise<string | undefined>;
  writeSecret(name: string, value: string): Promise<void>;
  /** Publishes the URLs of `up` to other commands; null removes them. */
  announce(running: RunningAddresses | null): Promise<void>;
  /** The URLs of a running `up` on this folder. */
  running(): Promise<RunningAddresses | undefined>;
}

/** The secret with which other commands authenticate to a running `up`. */
export const OPERATOR_TOKEN_FILE = 'operator-token';

/** The key with which the orchestrator of `up`, and commands beside it, call its Admin API. */
export const ADMIN_KEY_FILE = 'admin-api-key';

/** Signs unsubscribe links, unless UNSUBSCRIBE_SECRET is set. */
export const UNSUBSCRIBE_SECRET_FILE = 'unsubscribe-secret';

/** Signs the embedded forge's webhooks to sites without a GitHub webhook of their own. */
export const FORGE_SECRET_FILE = 'forge-webhook-secret';

/** Verified deliveries that a filter rejected, which can be run again. */
export const FILTERED_DELIVERIES = 'filtered-deliveries' satisfies HomeName;

/** The baseline of the state that `up` keeps in the folder. */
export const BASELINE_FILE = 'baseline';
export const STATE = ['database', 'temporal.db'];

const LOCK = 'up.lock';
const LOCKS = [LOCK, 'database.lock'];
const ADDRESSES = 'up.json';

/** The path in GALLEY_HOME of the folder of a values file's deployment. Several on one machine must not share versions. */
export function deploymentFolder(valuesFile: string): ['deployments', string] {
  return ['deployments', sha256Hex(valuesFile).slice(0, 16)];
}

/** What a new start makes again: addresses and sockets, versions that deployments fetch, and folders of running work. */
export const TRANSIENT = [...LOCKS, ADDRESSES, 'socket', 'deployments', 'agent-work', 'staging', FILTERED_DELIVERIES];

/** @throws ConfigurationError if the folder can't be created or written. */
async function makePrivateFolder(folder: string): Promise<void> {
  try {
    await makeFolder(folder, { mode: 0o700 });
    await access(folder, constants.W_OK | constants.X_OK);
    await makePrivate(folder);
  } catch (error) {
    const reason = errorCode(error) ?? String(error);
    throw new ConfigurationError([
      `GALLEY_HOME: expected a folder that can be created and written at ${folder} (${reason})`,
    ]);
  }
}

export function openHome(folder: string): Home {
  const path = (...names: string[]): string => join(folder, ...names);
  const readSecret = async (name: string): Promise<string | undefined> =>
    await readFile(path(name), 'utf8').then(
      (text) => text.trim() || undefined,
      () => undefined,
    );
  const writeSecret = async (name: string, value: string): Promise<void> => {
    await makePrivateFolder(folder);
    await replaceFile(path(name), `${value}\n`, { mode: 0o600 });
  };
  /** Call it before anything opens a file: SQLite and PostgreSQL write when they open one. */
  const refuseOtherBaseline = async (): Promise<void> => {
    const baseline = await readSecret(BASELINE_FILE);
    const names = baseline === undefined ? await readdir(folder) : [];
    if (baseline === BASELINE || (baseline === undefined && !STATE.some((name) => names.includes(name)))) return;
    throw new ConfigurationError([
      `GALLEY_HOME: expected an empty folder or the state of this build, but ${folder} has that of another build of ` +
        'Galley: move it away or name another folder; nothing was changed',
    ]);
  };
  return {
    folder,
    path,
    makeFolder: async (...names) => {
      await makePrivateFolder(folder);
      const made = path(...names);
      await makePrivateFolder(made);
      return made;
    },
    readSecret,
    writeSecret,
    lock: async () => {
      await makePrivateFolder(folder);
      await refuseOtherBaseline();
      const unlock = await lockFolder(path(LOCK), folder);
      await writeSecret(BASELINE_FILE, BASELINE);
      return unlock;
    },
    lockEmpty: async () => {
      await makePrivateFolder(folder);
      const unlock = await lockFolder(path(LOCK), folder);
      const [found] = (await readdir(folder)).filter((name) => !LOCKS.includes(name));
      if (found === undefined) return unlock;
      await unlock();
      throw new ConfigurationError([
        `GALLEY_HOME: expected an empty folder, but ${folder} has ${found}: move it away or name another folder`,
      ]);
    },
    secret: async (name) => {
      const kept = await readSecret(name);
      if (kept !== undefined) {
        await makePrivate(path(name));
        return kept;
      }
      const made = randomBytes(32).toString('base64url');
      await writeSecret(name, made);
      return made;
    },
    announce: async (running) => {
      if (running === null) await rm(path(ADDRESSES), { force: true });
      else await replaceFile(path(ADDRESSES), `${JSON.stringify(running, null, 2)}\n`, { mode: 0o600 });
    },
    running: async () => {
      if (!(await isFolderLocked(path(LOCK)))) return undefined;
      try {
        return addresses.parse(JSON.parse(await readFile(path(ADDRESSES), 'utf8')));
      } catch {
        return undefined;
      }
    },
  };
}
