import { createHash, randomUUID } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Logger } from 'pino';
import { readIfThere } from '../read-if-there.ts';

/** The exporter, and the rules of the bundle format that it follows. */
const ENGINE_FOLDERS = ['..', '../../bundle'].map((folder) => fileURLToPath(new URL(folder, import.meta.url)));

let reading: Promise<string> | undefined;

/**
 * A name for the code that makes an export: a hash of their program files, the package file, the lock file if
 * there is one, and the version of Node, whose zlib compresses. So a release never reuses what another one would have
 * stored differently, without a version number to maintain. Computed once per process.
 */
export function engineVersion(logger: Logger): Promise<string> {
  reading ??= hashProgram(ENGINE_FOLDERS).catch((error: unknown) => {
    logger.warn({ err: error }, 'The export engine can not read its own files, so exports reuse nothing');
    return randomUUID();
  });
  return reading;
}

/** Hashes the program files in the folders of one package and what they run with. */
export async function hashProgram(folders: readonly string[]): Promise<string> {
  const hash = createHash('sha256').update(process.versions.node);
  for (const bytes of await readPackageFiles(folders[0] ?? '.')) hash.update(bytes);
  for (const folder of folders) {
    const names = await readdir(folder, { recursive: true });
    const programs = names.filter((name) => /(?<!\.d)\.[jt]s$/.test(name)).sort();
    for (const name of programs) hash.update(name).update(await readFile(join(folder, name)));
  }
  return hash.digest('hex').slice(0, 32);
}

/** The nearest package file above a folder, and its lock file: the depth differs between source and build. */
async function readPackageFiles(folder: string): Promise<Buffer[]> {
  const packageFile = await readIfThere(join(folder, 'package.json'));
  if (packageFile === undefined) {
    if (dirname(folder) === folder) throw new Error('There is no package file above the program');
    return readPackageFiles(dirname(folder));
  }
  const lock = await readIfThere(join(folder, 'package-lock.json'));
  return lock === undefined ? [packageFile] : [packageFile, lock];
}
