import type { RepositoryGit } from '../git.ts';

/** GitHub's search order (https://docs.github.com/articles/about-code-owners). */
const PATHS = ['.github/CODEOWNERS', 'CODEOWNERS', 'docs/CODEOWNERS'] as const;

/** GitHub ignores longer files too. */
const MAX_BYTES = 3 * 1024 * 1024;

type CodeOwners = { path: string; content: string };

/** A commit's CODEOWNERS file; undefined if there is none or it exceeds 3 MiB. */
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
