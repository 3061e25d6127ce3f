import { createHash, randomUUID } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Logger } from 'pino';

const ENGINE_FOLDER = fileURLToPath(new URL('..', import.meta.url));

let reading: Promise<string> | undefined;

/**
 * A name for what this code makes of a site: a hash over the export's own program files and the package file, which
 * pins every library. So no release can take over what another one would have stored differently, and nobody has to
 * remember to count up a version. Read once in a process.
 */
export function engineVersion(logger: Logger): Promise<string> {
  reading ??= hashProgram().catch((error: unknown) => {
    logger.warn({ err: error }, 'The export engine can not read its own files; exports take nothing over');
    return randomUUID();
  });
  return reading;
}

async function hashProgram(): Promise<string> {
  const names = await readdir(ENGINE_FOLDER, { recursive: true });
  const programs = names.filter((name) => /(?<!\.d)\.[jt]s$/.test(name)).sort();
  const hash = createHash('sha256').update(await readPackageFile(ENGINE_FOLDER));
  for (const name of programs) hash.update(name).update(await readFile(join(ENGINE_FOLDER, name)));
  return hash.digest('hex').slice(0, 32);
}

/** The nearest package file above a folder: the program lies at another depth once it is built. */
async function readPackageFile(folder: string): Promise<Buffer> {
  try {
    return await readFile(join(folder, 'package.json'));
  } catch (error) {
    if (dirname(folder) === folder) throw error;
    return readPackageFile(dirname(folder));
  }
}
