import type { Git, Remote } from './git.ts';
import { GitError } from './git-error.ts';

/** The state of a remote's branches. */
export type RemoteHeads = {
  /** The default branch; null if the remote has none, for example because it is empty. */
  defaultBranch: string | null;
  /** Full commit ids by branch: the requested ones and the default branch. */
  commits: ReadonlyMap<string, string>;
};

const HEADS = 'refs/heads/';

/** Reads the commits of a remote's default branch and of these branches. Fetches nothing. Throws `GitError`. */
export async function readRemote(git: Git, remote: Remote, branches: readonly string[]): Promise<RemoteHeads> {
  const refs = branches.map((branch) => `${HEADS}${branch}`);
  const { stdout } = await git(['ls-remote', '--symref', '--', remote.repository, 'HEAD', ...refs], { remote });
  const commits = new Map<string, string>();
  let defaultBranch: string | null = null;
  for (const line of stdout.split('\n')) {
    const [value = '', name = ''] = line.split('\t');
    if (value.startsWith(`ref: ${HEADS}`) && name === 'HEAD') defaultBranch = value.slice(`ref: ${HEADS}`.length);
    else if (name === 'HEAD' && defaultBranch !== null) commits.set(defaultBranch, value);
    // Git treats names as patterns that match after a slash, so the output may have other branches.
    else if (refs.includes(name)) commits.set(name.slice(HEADS.length), value);
  }
  return { defaultBranch, commits };
}

/** Throws unless it is a valid branch name. */
export async function checkBranchName(git: Git, branch: string): Promise<void> {
  const { exitCode } = await git(['check-ref-format', `${HEADS}${branch}`], { accept: [1] });
  if (exitCode !== 0) throw new GitError(`${JSON.stringify(branch.slice(0, 100))} is no name of a branch`, 'missing');
}
