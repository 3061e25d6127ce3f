import { createHash, type Hash } from 'node:crypto';
import { mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { json } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { extract, type Header, type Pack, pack } from 'tar-stream';
import { z } from 'zod';
import { writeDurably } from '../../base/durable-file.ts';
import { isSystemError } from '../../base/error-code.ts';
import { ConfigurationError } from '../../contract/configuration-error.ts';
import { BASELINE } from '../../contract/names.ts';
import { BASELINE_FILE, STATE, TRANSIENT } from './home.ts';
import { packageVersion } from './package.ts';

/** The first entry, and the last one: a backup without it, or with other files than it counts, is damaged. */
const HEAD = 'galley-backup.json';
const END = 'end.json';
const head = z.object({ baseline: z.string(), version: z.string(), createdAt: z.string() });
const end = z.object({ files: z.int(), sha256: z.string() });

export type BackupHead = z.infer<typeof head>;

/** Where copies for a backup are made, and where a restore unpacks. */
const PART = 'backup.part';

/** The folder of home in the archive. */
const ROOT = 'home/';

/** Of the names that begin with a dot, only this is no draft: it signs links. */
const SIGNING_KEY = '.signing-key';

export type BackupSources = {
  /** GALLEY_HOME. */
  home: string;
  /** Make copies of what changes while it is read, in this order, each with its name in home. */
  copies: readonly ((folder: string) => Promise<void>)[];
  /** Replaced by copies, or kept elsewhere. */
  skipped: readonly string[];
};

/**
 * The archive of a home, as a tar stream.
 *
 * What refers is copied before what it refers to: Temporal's workflows name jobs, and rows of jobs name objects, which
 * follow last. So each part has everything that an earlier one names, as long as no object is deleted meanwhile; the
 * caller sees to that. What a part has beyond that does no harm: the reconciler starts or fails jobs that no workflow
 * knows, and `gc` deletes objects without an owner.
 */
export function createBackup(sources: BackupSources): Readable {
  const tar = pack();
  writeBackup(tar, sources).then(
    () => tar.finalize(),
    (error: unknown) => tar.destroy(error instanceof Error ? error : new Error(String(error))),
  );
  return Readable.from(tar, { objectMode: false });
}

type Writing = { tar: Pack; files: number; hash: Hash };

async function writeBackup(tar: Pack, { home, copies, skipped }: BackupSources): Promise<void> {
  const part = join(home, PART);
  await rm(part, { recursive: true, force: true });
  await mkdir(part, { mode: 0o700 });
  try {
    const first: BackupHead = { baseline: BASELINE, version: packageVersion(), createdAt: new Date().toISOString() };
    await addEntry(tar, { name: HEAD }, Buffer.from(JSON.stringify(first)));
    for (const copyTo of copies) await copyTo(part);
    const writing: Writing = { tar, files: 0, hash: createHash('sha256') };
    await addFolder(writing, part, ROOT, []);
    await addFolder(writing, home, ROOT, [...TRANSIENT, PART, ...skipped]);
    const last: z.infer<typeof end> = { files: writing.files, sha256: writing.hash.digest('hex') };
    await addEntry(tar, { name: END }, Buffer.from(JSON.stringify(last)));
  } finally {
    await rm(part, { recursive: true, force: true });
  }
}

async function addFolder(writing: Writing, folder: string, name: string, skipped: readonly string[]): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (skipped.includes(entry.name) || (entry.name.startsWith('.') && entry.name !== SIGNING_KEY)) continue;
    const path = join(folder, entry.name);
    if (entry.isFile()) await addFile(writing, path, name + entry.name);
    if (!entry.isDirectory()) continue;
    // PostgreSQL needs its empty folders, too.
    await addEntry(writing.tar, { name: `${name}${entry.name}/`, type: 'directory' });
    await addFolder(writing, path, `${name}${entry.name}/`, []);
  }
}

async function addFile(writing: Writing, path: string, name: string): Promise<void> {
  const file = await open(path);
  try {
    const { size } = await file.stat();
    writing.files += 1;
    writing.hash.update(`${name}\n${size}\n`);
    if (size === 0) return await addEntry(writing.tar, { name }, Buffer.alloc(0));
    const sink = writing.tar.entry({ name, size, mode: 0o600 });
    await pipeline(file.createReadStream({ start: 0, end: size - 1, autoClose: false }), hashed(writing.hash), sink);
  } finally {
    await file.close();
  }
}

function hashed(hash: Hash) {
  return async function* (chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const chunk of chunks) {
      hash.update(chunk);
      yield chunk;
    }
  };
}

async function addEntry(tar: Pack, header: Pick<Header, 'name'> & Partial<Header>, content?: Buffer): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const done = (error?: Error | null) => (error ? reject(error) : resolve());
    const entry = { ...header, mode: header.type === 'directory' ? 0o700 : 0o600 };
    if (content === undefined) tar.entry(entry, done);
    else tar.entry(entry, content, done);
  });
}

/**
 * Unpacks a backup into an empty home, which the caller has locked. Nothing is in place before the whole archive was
 * verified, and no `up` starts on a part.
 * @throws ConfigurationError if the file is no backup, damaged, or one of another build.
 */
export async function restoreBackup(archive: Readable, home: string): Promise<BackupHead> {
  const part = join(home, PART);
  await mkdir(part, { mode: 0o700 });
  try {
    const restored = await unpack(archive, part);
    const names = await readdir(part);
    for (const name of names.sort((a, b) => rankOf(a) - rankOf(b))) await rename(join(part, name), join(home, name));
    return restored;
  } finally {
    await rm(part, { recursive: true, force: true });
  }
}

/** No `up` starts on databases without the mark of their build. */
function rankOf(name: string): number {
  if (name === BASELINE_FILE) return 2;
  return STATE.includes(name) ? 0 : 1;
}

async function unpack(archive: Readable, folder: string): Promise<BackupHead> {
  const entries = archive.pipe(extract());
  archive.on('error', (error) => entries.destroy(error));
  let found: BackupHead | undefined;
  let last: z.infer<typeof end> | undefined;
  let files = 0;
  const hash = createHash('sha256');
  try {
    for await (const entry of entries) {
      const { name, size = 0, type } = entry.header;
      if (found === undefined) {
        found = readHead(name === HEAD ? head.safeParse(await json(entry)).data : undefined);
      } else if (name === END) {
        last = end.parse(await json(entry));
      } else if (type === 'directory') {
        await mkdir(pathIn(folder, name), { mode: 0o700 });
        entry.resume();
      } else {
        files += 1;
        hash.update(`${name}\n${size}\n`);
        await writeDurably(pathIn(folder, name), hashed(hash)(Readable.from(entry, { objectMode: false })), 0o600);
      }
    }
  } catch (error) {
    throw error instanceof ConfigurationError || isSystemError(error) ? error : damaged(error);
  }
  if (found === undefined || last?.files !== files || last.sha256 !== hash.digest('hex'))
    throw damaged('it is cut off');
  return found;
}

function readHead(found: BackupHead | undefined): BackupHead {
  if (found === undefined) throw new ConfigurationError(['FILE: expected what galley backup wrote']);
  if (found.baseline === BASELINE) return found;
  throw new ConfigurationError([
    `FILE: expected a backup of this build, but it is one of Galley ${found.version}: restore it with that release`,
  ]);
}

/** Throws for a name that leaves the folder. */
function pathIn(folder: string, name: string): string {
  const segments = name.slice(ROOT.length).replace(/\/$/, '').split('/');
  const isInside = name.startsWith(ROOT) && segments.every((each) => !['', '.', '..'].includes(each));
  if (!isInside || /[\\\0]/.test(name)) throw new Error(`the name ${JSON.stringify(name.slice(0, 100))}`);
  return join(folder, ...segments);
}

function damaged(reason: unknown): ConfigurationError {
  const text = reason instanceof Error ? reason.message : String(reason);
  return new ConfigurationError([`FILE: expected a complete backup, but it is damaged: ${text}`]);
}
