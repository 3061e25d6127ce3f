import type { RepositoryGit } from '../git.ts';

/** In the order in which GitHub looks (https://docs.github.com/articles/about-code-owners). */
const PATHS = ['.github/CODEOWNERS', 'CODEOWNERS', 'docs/CODEOWNERS'] as const;

/** What GitHub reads at most. */
const MAX_BYTES = 3 * 1024 * 1024;

export type CodeOwners = { path: string; content: string };

/** The file that says who owns what, as a commit has it; undefined where there is none. */
export async function readCodeOwners(git: RepositoryGit, commit: string): Promise<CodeOwners | undefined> {
  const entries = (await git.read(['ls-tree', '-z', commit, '--', ...PATHS])).split('\0');
  const files = entries
    .filter((entry) => /^100\d+ blob /.test(entry))
    .map((entry) => entry.slice(entry.indexOf('\t') + 1));
  const path = PATHS.find((each) => files.includes(each));
  if (path === undefined) return undefined;
  return { path, content: await git.read(['cat-file', 'blob', `${commit}:${path}`], { maxOutputBytes: MAX_BYTES }) };
}
