import type { Stats } from 'node:fs';
import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode } from '../../../../../contract/error-code.ts';
import { ToolRefusal } from './tool-refusal.ts';

export type Found = {
  /** The absolute path on this machine. */
  file: string;
  /** As shown to the model: relative to the checkout. */
  path: string;
  /** Undefined if it doesn't exist yet. */
  info: Stats | undefined;
};

/**
 * Resolves a path that the model gave. No component may be `..`, git's own folder or a symbolic link. Only these tools
 * write here, so the check still holds when the path is used.
 * @throws ToolRefusal
 */
export async function findInCheckout(root: string, written: string): Promise<Found> {
  const parts = written.split('/').filter((part) => part !== '' && part !== '.');
  if (written.startsWith('/')) throw new ToolRefusal(`${written}: expected a path relative to the repository's root`);
  if (written.includes('\0') || parts.includes('..')) {
    throw new ToolRefusal(`${written}: expected a path inside the repository`);
  }
  if (parts.some((part) => part.toLowerCase() === '.git')) {
    throw new ToolRefusal(`${written}: git's own files can't be used`);
  }
  const path = parts.join('/');
  let file = root;
  let info: Stats | undefined = await lstat(root);
  for (const [index, part] of parts.entries()) {
    file = join(file, part);
    info = await lstat(file).catch((error: unknown) => missing(error, path));
    if (info === undefined) break;
    if (info.isSymbolicLink())
      throw new ToolRefusal(`${path}: ${parts.slice(0, index + 1).join('/')} is a symbolic link`);
    if (index < parts.length - 1 && !info.isDirectory()) {
      throw new ToolRefusal(`${path}: ${parts.slice(0, index + 1).join('/')} is no folder`);
    }
  }
  return { file: join(root, ...parts), path: path === '' ? '.' : path, info };
}

function missing(error: unknown, path: string): undefined {
  if (errorCode(error) === 'ENOENT') return undefined;
  throw new ToolRefusal(`${path}: ${errorCode(error) ?? 'not readable'}`);
}
