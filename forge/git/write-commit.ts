import type { Git } from './git.ts';

export type Identity = { name: string; email: string };

type CommitContent = {
  dir: string;
  tree: string;
  parent: string;
  author: Identity;
  /** Author's and committer's date. */
  at: Date;
  message: string;
};

/** Stores a commit and returns its id. The same content always has the same id. */
export async function writeCommit(
  git: Git,
  { dir, tree, parent, author, at, message }: CommitContent,
): Promise<string> {
  const date = `@${Math.floor(at.getTime() / 1_000)} +0000`;
  const { stdout } = await git(['commit-tree', '--no-gpg-sign', tree, '-p', parent], {
    dir,
    input: message.endsWith('\n') ? message : `${message}\n`,
    environment: {
      GIT_AUTHOR_NAME: author.name,
      GIT_AUTHOR_EMAIL: author.email,
      GIT_AUTHOR_DATE: date,
      GIT_COMMITTER_NAME: author.name,
      GIT_COMMITTER_EMAIL: author.email,
      GIT_COMMITTER_DATE: date,
    },
  });
  return stdout.trim();
}
