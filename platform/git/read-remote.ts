import type { Git, Remote } from './git.ts';
import { GitError } from './git-error.ts';

/** Where a remote's branches are. */
export type RemoteHeads = {
  /** The branch that is meant when nobody names one; null where the remote names none, as an empty one does. */
  defaultBranch: string | null;
  /** Full commit ids by branch: of those asked for, and of the default branch. */
  commits: ReadonlyMap<string, string>;
};

const HEADS = 'refs/heads/';

/** Asks a remote where its default branch and these branches are. Nothing is fetched. Throws `GitError`. */
export async function readRemote(git: Git, remote: Remote, branches: readonly string[]): Promise<RemoteHeads> {
  const refs = branches.map((branch) => `${HEADS}${branch}`);
  const { stdout } = await git(['ls-remote', '--symref', '--', remote.repository, 'HEAD', ...refs], { remote });
  const commits = new Map<string, string>();
  let defaultBranch: string | null = null;
  for (const line of stdout.split('\n')) {
    const [value = '', name = ''] = line.split('\t');
    if (value.startsWith(`ref: ${HEADS}`) && name === 'HEAD') defaultBranch = value.slice(`ref: ${HEADS}`.length);
    else if (name === 'HEAD' && defaultBranch !== null) commits.set(defaultBranch, value);
    // Git takes names for patterns that match at a slash, so others may be among the answers.
    else if (refs.includes(name)) commits.set(name.slice(HEADS.length), value);
  }
  return { defaultBranch, commits };
}

/** Throws unless git would take this for a branch's name. */
export async function checkBranchName(git: Git, branch: string): Promise<void> {
  const { exitCode } = await git(['check-ref-format', `${HEADS}${branch}`], { accept: [1] });
  if (exitCode !== 0) throw new GitError(`${JSON.stringify(branch.slice(0, 100))} is no name of a branch`, 'missing');
}
