import { lstat, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Longer than any is in use. */
const DEAD_MS = 7 * 86_400_000;

const cleared = new Set<string>();

/**
 * Makes a folder `galley-{name}-…` among the system's temporary files, which the caller removes. The first call also
 * removes those that killed processes of this user left a week ago.
 */
export async function makeTemporaryFolder(name: string, parent = tmpdir()): Promise<string> {
  const prefix = join(parent, `galley-${name}-`);
  if (!cleared.has(prefix)) {
    cleared.add(prefix);
    await removeDead(parent, `galley-${name}-`);
  }
  return await mkdtemp(prefix);
}

/** Never throws: only space is at stake. */
async function removeDead(parent: string, prefix: string): Promise<void> {
  const names = (await readdir(parent).catch(() => [])).filter((name) => name.startsWith(prefix));
  for (const path of names.map((name) => join(parent, name))) {
    const found = await lstat(path).catch(() => undefined);
    const isOwn = found?.isDirectory() === true && found.uid === (process.getuid?.() ?? found.uid);
    if (!isOwn || found.mtimeMs > Date.now() - DEAD_MS) continue;
    await rm(path, { recursive: true, force: true }).catch(() => undefined);
  }
}
