import type { RepositoryGit } from '../git.ts';

/** In the order in which GitHub looks (https://docs.github.com/articles/about-code-owners). */
const PATHS = ['.github/CODEOWNERS', 'CODEOWNERS', 'docs/CODEOWNERS'] as const;

/** GitHub doesn't load a longer one either. */
const MAX_BYTES = 3 * 1024 * 1024;

export type CodeOwners = { path: string; content: string };

/** The file that says who owns what, as a commit has it; undefined where there is none, or it is longer than 3 MiB. */
export async function readCodeOwners(git: RepositoryGit, commit: string): Promise<CodeOwners | undefined> {
  const entries = (await git.read(['ls-tree', '-z', '--long', commit, '--', ...PATHS])).split('\0');
  const sizes = new Map(
    entries
      .map((entry) => /^100\d+ blob \S+ +(\d+)\t(.*)$/s.exec(entry))
      .map((found) => [found?.[2], Number(found?.[1])]),
  );
  const path = PATHS.find((each) => sizes.has(each));
  if (path === undefined || (sizes.get(path) ?? 0) > MAX_BYTES) return undefined;
  return { path, content: await git.read(['cat-file', 'blob', `${commit}:${path}`], { maxOutputBytes: MAX_BYTES }) };
}
