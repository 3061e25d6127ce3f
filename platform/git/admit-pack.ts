import { stat } from 'node:fs/promises';
import type { Git } from '../../forge/git/git.ts';
import { GitError } from '../../forge/git/git-error.ts';

const TIMEOUT_MS = 10 * 60_000;

/**
 * Adds the objects of an untrusted pack to the bare repository at `dir`, after git's own checks: all objects valid and
 * complete, no entry named `.git` in any spelling, none with `..` or a slash, no dangerous `.gitmodules`. Throws
 * `GitError` with `broken` if a check fails or the pack is larger than `maxBytes`.
 */
export async function admitPack(
  git: Git,
  { dir, packFile, tree, maxBytes }: { dir: string; packFile: string; tree: string; maxBytes: number },
): Promise<void> {
  if (!/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(tree)) throw broken('what the agent left names no tree');
  const { size } = await stat(packFile);
  if (size > maxBytes) throw tooLarge(maxBytes);
  const args = [
    'index-pack',
    '--stdin',
    '--fix-thin',
    '--strict=badFilemode=error',
    `--max-input-size=${maxBytes}`,
  ] as const;
  try {
    await git(args, { dir, inputFile: packFile, timeoutMs: TIMEOUT_MS });
  } catch (error) {
    if (!(error instanceof GitError) || error.reason === 'timeout') throw error;
    throw /exceeds maximum/.test(error.message) ? tooLarge(maxBytes) : broken(error.message);
  }
  const { stdout } = await git(['cat-file', '--batch-check'], { dir, input: `${tree}\n` });
  if (stdout !== `${tree} tree ${stdout.split(' ')[2] ?? ''}`) throw broken('its tree is not among its objects');
}

function broken(why: string): GitError {
  return new GitError(`the agent left files that can't be stored: ${why}`, 'broken');
}

function tooLarge(maxBytes: number): GitError {
  return new GitError(`the agent's change is larger than ${maxBytes} bytes`, 'broken');
}
