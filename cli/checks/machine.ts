import { mkdtemp, rmdir, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { nearestFolder } from '../../activities/deployments/check-folder.ts';
import { errorCode } from '../../base/error-code.ts';
import { cacheFolder, programName } from '../../embedded/cache-folder.ts';
import { findOnPath } from '../../embedded/find-on-path.ts';
import { exists } from '../../embedded/install-once.ts';
import { ADMIN_KEY_FILE, OPERATOR_TOKEN_FILE } from '../../programs/process/home.ts';
import { oldestNode } from '../../programs/process/package.ts';
import { envFileBeside } from '../../programs/settings/env-file.ts';
import type { Settings } from '../../programs/settings/environment.ts';
import { type Finding, fail, ok, warn } from './finding.ts';

const GIB = 1024 ** 3;
/** An export of a large site keeps several copies of it. */
const LITTLE_SPACE_GIB = 5;
const TOO_LITTLE_SPACE_GIB = 0.5;

export function checkNode(): Finding {
  const { node } = process.versions;
  const oldest = oldestNode();
  const [major = 0, minor = 0] = node.split('.').map(Number);
  const [oldestMajor = 0, oldestMinor = 0] = oldest.split('.').map(Number);
  const isOld = major < oldestMajor || (major === oldestMajor && minor < oldestMinor);
  return isOld
    ? fail('node', `${node} is older than ${oldest}`, 'Install a newer Node.js.')
    : ok('node', `${node} (needs ${oldest} or newer)`);
}

/** Whether GALLEY_HOME can be written, and others can't read its secrets. */
export async function checkHome(home: string): Promise<Finding> {
  const check = 'galley-home';
  try {
    // Rights alone don't say it: the disk may be full.
    await rmdir(await mkdtemp(join(await nearestFolder(home), '.galley-')));
  } catch (error) {
    return fail(
      check,
      `${home} can't be written (${errorCode(error) ?? error})`,
      'Correct its permissions, free some space, or set GALLEY_HOME.',
    );
  }
  for (const name of [OPERATOR_TOKEN_FILE, ADMIN_KEY_FILE]) {
    const file = join(home, name);
    if (await isReadableByOthers(file)) return fail(check, `others can read ${file}`, `Run: chmod 600 ${file}`);
  }
  return ok(check, `${home} can be written`);
}

export async function checkEnvFile(configPath: string): Promise<Finding[]> {
  const file = envFileBeside(configPath);
  if (!(await exists(file))) return [];
  return [
    (await isReadableByOthers(file))
      ? warn('env-file', `others can read ${file}, which holds secrets`, `Run: chmod 600 ${file}`)
      : ok('env-file', `only you can read ${file}`),
  ];
}

async function isReadableByOthers(file: string): Promise<boolean> {
  // Windows has no such bits.
  if (process.platform === 'win32') return false;
  return await stat(file).then(
    ({ mode }) => (mode & 0o077) !== 0,
    () => false,
  );
}

export async function checkDisk(folder: string): Promise<Finding> {
  const check = 'disk';
  const { bavail, bsize } = await statfs(await nearestFolder(folder));
  const freeGib = (bavail * bsize) / GIB;
  const message = `${freeGib.toFixed(1)} GiB free at ${folder}`;
  const fix = 'Free some space, or set GALLEY_HOME and OBJECT_STORE_URL to a larger disk.';
  if (freeGib < TOO_LITTLE_SPACE_GIB) return fail(check, message, fix);
  return freeGib < LITTLE_SPACE_GIB ? warn(check, message, fix) : ok(check, message);
}

/** git is needed only for agent jobs. */
export async function checkGit(path: string | undefined): Promise<Finding> {
  return (await findOnPath('git', path))
    ? ok('git', 'found')
    : fail('git', 'not found on the PATH', 'Install git: agent jobs need it.');
}

/** The embedded Temporal, while no `up` runs. */
export async function checkDevServer({ variables }: Pick<Settings, 'variables'>): Promise<Finding> {
  const installed =
    (await findOnPath('temporal', variables.PATH)) ?? join(cacheFolder(), 'bin', programName('temporal'));
  return (await exists(installed))
    ? ok('temporal', `galley up starts ${installed}`)
    : ok('temporal', 'galley up installs a dev server at its first start');
}
