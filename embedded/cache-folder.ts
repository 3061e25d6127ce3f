import { homedir } from 'node:os';
import { join } from 'node:path';

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The user's cache folder, shared by all checkouts (the Temporal servers, tools of the tests), following the platform's
 * convention: `$XDG_CACHE_HOME` or `~/.cache`, `~/Library/Caches`, `%LOCALAPPDATA%`.
 */
export function cacheFolder(env: Environment = process.env, platform: NodeJS.Platform = process.platform): string {
  const base = env.XDG_CACHE_HOME || (platform === 'win32' ? env.LOCALAPPDATA : undefined);
  if (base) return join(base, 'galley');
  return platform === 'darwin' ? join(homedir(), 'Library', 'Caches', 'galley') : join(homedir(), '.cache', 'galley');
}

/** A program's file name on this platform. */
export function programName(name: string): string {
  return process.platform === 'win32' ? `${name}.exe` : name;
}
