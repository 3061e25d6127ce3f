import { execa } from 'execa';

export type Changes = Readonly<Record<string, string | Uint8Array | null>>;

/** A fixed identity, and no settings of the user. */
export const GIT_ENVIRONMENT = {
  ...{ GIT_AUTHOR_NAME: 'Ada', GIT_AUTHOR_EMAIL: 'ada@example.com' },
  ...{ GIT_COMMITTER_NAME: 'Ada', GIT_COMMITTER_EMAIL: 'ada@example.com' },
  ...{ GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' },
};

/**
 * Commits files (null removes one) on a branch of the repository in `dir` and returns the commit. `count`: the number of
 * commits in a row. A missing branch starts at `main`. A work tree with the branch checked out is updated.
 */
export async function commitFiles(
  dir: string,
  commit: { branch: string; files: Changes; message: string; count?: number; bare?: boolean },
): Promise<string> {
  const { branch, files, message, count = 1, bare = true } = commit;
  const git = async (args: readonly string[], input = ''): Promise<string> =>
    (await execa('git', args, { cwd: dir, env: GIT_ENVIRONMENT, input: Buffer.from(input, 'latin1') })).stdout.trim();
  const [ref, main] = [`refs/heads/${branch}`, 'refs/heads/main'];
  const known = (await git(['for-each-ref', '--format=%(refname)', ref, main])).split('\n');
  const from = [ref, main].find((each) => known.includes(each));
  const changes = Object.entries(files).map(([path, content]) =>
    content === null ? `D ${quoted(path)}\n` : `M 100644 inline ${quoted(path)}\n${data(content)}`,
  );
  const committer = `committer Ada <ada@example.com> ${Math.floor(Date.now() / 1000)} +0000\n`;
  const head = `commit ${ref}\nmark :1\n${committer}${data(`${message}\n`)}`;
  const commits = Array.from({ length: count }, (_, index) =>
    [head, index === 0 && from !== undefined ? `from ${from}^0\n` : '', ...changes].join(''),
  );
  // One process: clone, add, commit and push would need seven.
  const id = await git(['fast-import', '--quiet'], `${commits.join('')}get-mark :1\n`);
  if (!bare && (await git(['symbolic-ref', 'HEAD'])) === ref) await git(['reset', '--quiet', '--hard']);
  return id;
}

function data(content: string | Uint8Array): string {
  const bytes = Buffer.from(content);
  return `data ${bytes.length}\n${bytes.toString('latin1')}\n`;
}

/** Quotes a path like a C string, which git accepts for any path. */
function quoted(path: string): string {
  const text = path.replaceAll(/["\\]/g, '\\$&').replaceAll('\n', '\\n');
  return `"${Buffer.from(text).toString('latin1')}"`;
}
