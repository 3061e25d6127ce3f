import type { Git } from './git.ts';

export type Identity = { name: string; email: string };

/** Otherwise ssh-keygen asks for it on the terminal, and waits. */
export const NO_PASSPHRASE = { SSH_ASKPASS: 'false', SSH_ASKPASS_REQUIRE: 'force' };

type CommitContent = {
  dir: string;
  tree: string;
  parent: string;
  author: Identity;
  /** Author's and committer's date. */
  at: Date;
  message: string;
  /** The file of an SSH key that signs the commit; null: it isn't signed. */
  signingKey?: string | null;
};

/** Stores a commit and returns its id. The same content always has the same id, signed with ed25519 or RSA too. */
export async function writeCommit(
  git: Git,
  { dir, tree, parent, author, at, message, signingKey = null }: CommitContent,
): Promise<string> {
  const date = `@${Math.floor(at.getTime() / 1_000)} +0000`;
  const signing = signingKey === null ? '--no-gpg-sign' : `--gpg-sign=${signingKey}`;
  const { stdout } = await git(['commit-tree', signing, tree, '-p', parent], {
    dir,
    input: message.endsWith('\n') ? message : `${message}\n`,
    environment: {
      GIT_AUTHOR_NAME: author.name,
      GIT_AUTHOR_EMAIL: author.email,
      GIT_AUTHOR_DATE: date,
      GIT_COMMITTER_NAME: author.name,
      GIT_COMMITTER_EMAIL: author.email,
      GIT_COMMITTER_DATE: date,
      ...NO_PASSPHRASE,
    },
  });
  return stdout.trim();
}
