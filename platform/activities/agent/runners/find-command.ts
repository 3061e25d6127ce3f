import { constants } from 'node:fs';
import { access, realpath } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter, dirname, isAbsolute, join, sep } from 'node:path';

/** Default search path if the operator sets no PATH. */
export const DEFAULT_PATH = '/usr/local/bin:/usr/bin:/bin';

/** A program's absolute path, searched like a shell does; undefined if no folder of `path` has it. */
export async function findCommand(name: string, path: string): Promise<string | undefined> {
  const candidates = isAbsolute(name) ? [name] : path.split(delimiter).map((folder) => join(folder, name));
  for (const candidate of candidates) {
    // A relative folder in PATH would be relative to the worker's own folder.
    if (!isAbsolute(candidate)) continue;
    const executable = await access(candidate, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (executable) return candidate;
  }
  return undefined;
}

/**
 * What must be readable to start a program: its folder, the folder of a link's target, and for a Node package the
 * outermost `node_modules` with its dependencies. In a folder that holds more than programs, such as a home, only the
 * file itself.
 */
export async function pathsOfProgram(program: string): Promise<string[]> {
  const file = await realpath(program);
  const parts = file.split(sep);
  const modules = parts.indexOf('node_modules');
  const real = modules > 1 ? parts.slice(0, modules + 1).join(sep) : folderOf(file);
  return [...new Set([folderOf(program), real])];
}

function folderOf(file: string): string {
  const folder = dirname(file);
  const isBroad = /^\/[^/]*$/.test(folder) || /^\/home\/[^/]+$/.test(folder) || folder === homedir();
  return isBroad ? file : folder;
}
