import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { errorText } from '../../../base/error-code.ts';
import { sha256Hex } from '../../../base/sha256.ts';
import { makeTemporaryFolder } from '../../../base/temporary-folder.ts';
import type { SettingsOf } from '../../../contract/target-kind.ts';
import type { ForgeWriter, GitCredentials, PullRequest } from '../../../forge/forge.ts';
import { createGit, type Git, type Remote } from '../../../forge/git/git.ts';
import { GitError } from '../../../forge/git/git-error.ts';
import { pushBranch } from '../../../forge/git/push-branch.ts';
import { readRemote } from '../../../forge/git/read-remote.ts';
import { writeCommit } from '../../../forge/git/write-commit.ts';
import { planEditBounded, readSwitchesBounded } from '../bounded-values.ts';
import type {
  DeploymentReport,
  DeploymentTarget,
  DeploymentWrite,
  Switches,
  TargetCheck,
} from '../deployment-target.ts';
import { ValuesFileError } from '../edit-values.ts';
import { parseSidecar, type Sidecar, sidecarPath, sidecarText } from '../sidecar.ts';
import { isBefore, ownerOf } from '../write-order.ts';

export type GitTargetDeps = {
  /** What git inherits: a path, proxies, an SSH agent. */
  gitEnvironment?: Readonly<Record<string, string>> | undefined;
  /**
   * The forge of galley.yaml, with the target's own token if it has one. Without one, people open the pull requests
   * themselves.
   */
  openForge?: ((token: string | undefined) => ForgeWriter | undefined) | undefined;
};

const AUTHOR = { name: 'Galley', email: 'galley@localhost' };

/** Other writers push meanwhile; after this many attempts the activity's retry handles it. */
const ATTEMPTS = 20;
const PAUSE_MS = 100;

const BASE = 'refs/galley/base';
const PROPOSED = 'refs/galley/proposed';

/** Any user name does for a token on GitHub, GitLab and Gitea. */
const TOKEN_USERNAME = 'x-access-token';

/**
 * A values file in a git repository, for Argo CD or Flux to roll out. Its sidecar is committed beside it, so that several
 * workers can write, and pins work as in a file on the disk.
 */
export function createGitTarget(settings: SettingsOf<'git'>, deps: GitTargetDeps = {}): DeploymentTarget {
  return {
    async write(write, { site, signal }) {
      const access = await openRemote(settings, deps, signal);
      return await withClone(access, (clone) =>
        untilPushed(() => attempt({ ...access, ...clone, settings, site }, write), signal),
      );
    },
    async readSwitches(signal) {
      const { branch, path } = settings;
      const access = await openRemote(settings, deps, signal);
      const { commits } = await readRemote(access.git, access.remote, [branch]);
      const read = await readUnlessKnown(access, { branch, commit: commits.get(branch), path });
      read.switches ??= await readSwitchesBounded(read.text);
      return read.switches;
    },
    async readProposal(order, { site, signal }) {
      const { repository, path } = settings;
      const access = await openRemote(settings, deps, signal);
      const branch = proposalBranch({ site, settings });
      // First, so that what was merged by now is in the branch.
      const pullRequest = await access.forge?.findPullRequest({ repository, branch });
      if (pullRequest?.state === 'merged') return 'merged';
      const { commits } = await readRemote(access.git, access.remote, [settings.branch, branch]);
      const place = { branch: settings.branch, commit: commits.get(settings.branch), path: sidecarPath(path) };
      const merged = parseSidecar((await readUnlessKnown(access, place)).text);
      if (merged?.site === site && !isBefore(merged, order)) return 'merged';
      const isOpen = access.forge === undefined ? commits.has(branch) : pullRequest?.state === 'open';
      return isOpen ? 'open' : 'closed';
    },
    async check(context) {
      try {
        return await checkBranch(await openRemote(settings, deps, context.signal), settings, context.site);
      } catch (error) {
        const message = `${settings.repository}: ${errorText(error)}`;
        const reason = error instanceof GitError ? error.reason : 'other';
        return { message, fix: FIXES[reason] ?? 'Check the settings of git, and those of forge for pull requests.' };
      }
    },
  };
}

const FIXES: Partial<Record<GitError['reason'], string>> = {
  refused: "Check git.token, or the worker's SSH key: it must be allowed to read and to push.",
  missing: 'Correct git.repository. A forge also hides repositories that the token may not read.',
  unreachable: 'Check git.repository, the network and the proxies of the worker.',
  timeout: 'Check git.repository, the network and the proxies of the worker.',
};

/** The branch that a dry run pushes to. */
const NEVER_PUSHED = 'refs/heads/galley/doctor';

async function checkBranch(access: Access, settings: SettingsOf<'git'>, site: string): Promise<TargetCheck> {
  const { repository, branch, path } = settings;
  const { git, remote, forge } = access;
  if (!(await readRemote(git, remote, [branch])).commits.has(branch)) {
    return { message: `${repository} has no branch ${branch}`, fix: 'Create the branch, or correct git.branch.' };
  }
  return await withClone(access, async (clone) => {
    const { dir } = clone;
    const commit = await fetchBranch(clone, branch, BASE);
    await git(['push', '--dry-run', '--no-verify', '--', repository, `${commit}:${NEVER_PUSHED}`], { dir, remote });
    await forge?.findPullRequest({ repository, branch: proposalBranch({ site, settings }) });
    const { text } = await readFileAt(clone, commit, path);
    if (text === '') {
      const fix = 'If the file has another name, correct git.path: the first deploy creates this one.';
      return { message: `${repository} has no ${path} in ${branch}`, fix, doubtful: true };
    }
    try {
      await readSwitchesBounded(text);
    } catch (error) {
      if (!(error instanceof ValuesFileError)) throw error;
      return { message: `${path} in ${repository}: ${error.message}`, fix: 'Correct the file in the repository.' };
    }
    const byHand = settings.mode === 'pull-request' && forge === undefined;
    const note = byHand ? '; without the section forge, you open the pull requests yourself' : '';
    return { message: `${path} in ${branch} of ${repository} can be read, and pushed to${note}`, fix: null };
  });
}

/** What this process last read, by place: while the branch doesn't move, nothing is fetched. */
const filesRead = new Map<string, FileAtCommit>();

type FileAtCommit = { commit: string; text: string; switches?: Switches };

type FilePlace = { branch: string; commit: string | undefined; path: string };

async function readUnlessKnown(access: Access, { branch, commit, path }: FilePlace): Promise<FileAtCommit> {
  const place = `${access.remote.repository}#${branch}:${path}`;
  const known = filesRead.get(place);
  if (known !== undefined && known.commit === commit) return known;
  return await withClone(access, async (clone) => {
    const fetched = await fetchBranch(clone, branch, BASE);
    const { text } = await readFileAt(clone, fetched, path);
    const read = { commit: fetched, text };
    filesRead.set(place, read);
    return read;
  });
}

type Access = { git: Git; remote: Remote; forge: ForgeWriter | undefined };

/** A bare repository of its own, for one write or read. */
type Clone = Pick<Access, 'git' | 'remote'> & { dir: string };

type Context = Access & Clone & { settings: SettingsOf<'git'>; site: string };

async function openRemote(settings: SettingsOf<'git'>, deps: GitTargetDeps, signal: AbortSignal): Promise<Access> {
  const git = createGit({ signal, environment: deps.gitEnvironment });
  const forge = settings.mode === 'pull-request' ? deps.openForge?.(settings.token) : undefined;
  return { git, forge, remote: { repository: settings.repository, credentials: await credentialsOf(settings, forge) } };
}

async function withClone<T>({ git, remote }: Access, work: (clone: Clone) => Promise<T>): Promise<T> {
  const dir = await makeTemporaryFolder('git');
  try {
    await git(['init', '--quiet', '--bare', '--template=', '--', dir]);
    return await work({ git, remote, dir });
  } finally {
    await rm(dir, { recursive: true, force: true, maxRetries: 3 });
  }
}

async function credentialsOf(
  { repository, token, username = TOKEN_USERNAME }: SettingsOf<'git'>,
  forge: ForgeWriter | undefined,
): Promise<GitCredentials | null> {
  // Over SSH the worker's key signs in, and the token is for the forge's API only.
  if (!/^https?:/i.test(repository)) return null;
  if (token !== undefined) return { username, password: token };
  return forge === undefined ? null : await forge.gitCredentials(repository);
}

/** Fetches and tries again if someone else pushed meanwhile. */
async function untilPushed(work: () => Promise<DeploymentReport>, signal: AbortSignal): Promise<DeploymentReport> {
  for (let count = 1; ; count++) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof GitError) || error.reason !== 'conflict' || count === ATTEMPTS) throw error;
      await sleep(PAUSE_MS * Math.min(count, 10) * Math.random(), undefined, { signal });
    }
  }
}

async function attempt(context: Context, write: DeploymentWrite): Promise<DeploymentReport> {
  const { settings } = context;
  const base = await fetchBranch(context, settings.branch, BASE);
  const isProposal = settings.mode === 'pull-request';
  const branch = isProposal ? proposalBranch(context) : settings.branch;
  const proposed = isProposal ? await fetchProposal(context, branch) : base;
  const sidecarFile = sidecarPath(settings.path);
  const values = await readFileAt(context, base, settings.path);
  const sidecar = await readFileAt(context, base, sidecarFile);
  const waiting = proposed === null ? null : await readFileAt(context, proposed, sidecarFile);
  const [merged, open] = [parseSidecar(sidecar.text), parseSidecar(waiting?.text ?? '')];
  const closed = isProposal ? await findClosed(context, branch) : null;
  const current = closed === null ? newest(merged, open) : withoutClosed(merged, open);
  // What was only proposed has switched nothing on.
  const enabling = merged === null ? write.deployedBefore !== true : merged.enabling;
  const plan = await planEditBounded(write, values.text, current && { ...current, enabling });
  const isEdit = plan.kind === 'edit';
  // A repeated write, or its pull request is merged.
  if (isProposal && isEdit && plan.text === values.text && merged?.jobId === write.jobId) return plan.report;

  if (isProposal && isEdit && hasFresherLink(write, merged)) {
    const { expiresAt, lifetimeMs } = merged;
    return { ...plan.report, link: { expiresAt, lifetimeMs }, owner: ownerOf(merged), bundlePath: null };
  }

  const proposal = { ...plan.report, jobId: merged?.jobId ?? null };
  // Without its branch, only the title says which job it was of.
  const isOfJob = open === null ? closed?.title === proposalTitle(context, write) : open.jobId === write.jobId;
  // A refresh of it is no refresh of what is deployed.
  const mayWrite = isEdit || plan.report.outcome === 'superseded';
  if (closed !== null && isOfJob && mayWrite) return { ...proposal, outcome: 'closed', url: closed.url };
  // An open pull request is not written yet.
  if (plan.kind === 'refused') return { ...plan.report, jobId: merged?.jobId ?? null };

  const edits = [
    { ...values, path: settings.path, text: plan.text, before: values.text },
    { ...sidecar, path: sidecarFile, text: sidecarText(plan.sidecar), before: sidecar.text },
  ].filter(({ text, before }) => text !== before);
  if (edits.length === 0) return plan.report;

  const isProposed = waiting?.text === sidecarText(plan.sidecar) && proposed !== base;
  if (!isProposed) await commit(context, { base, edits, write, branch, expected: proposed });
  if (!isProposal) return plan.report;
  return { ...proposal, outcome: 'proposed', url: await proposeChange(context, { branch, write }) };
}

/** Whether a link of the job was merged that the workflow took for closed: another pull request would be one too many. */
function hasFresherLink(write: DeploymentWrite, merged: Sidecar | null): merged is Sidecar {
  const { site, kind, jobId, deployedLinkExpiresAt: known } = write;
  if (kind !== 'refresh' || known === undefined || merged?.site !== site || merged.jobId !== jobId) return false;
  return Date.parse(merged.expiresAt) > Date.parse(known);
}

type NewCommit = Pick<Push, 'branch' | 'expected'> & Pick<Proposal, 'write'> & { base: string; edits: readonly Edit[] };

async function commit(context: Context, { base, edits, write, branch, expected }: NewCommit): Promise<void> {
  const { git, dir } = context;
  const tree = await writeTree(context, base, edits);
  const message = `${write.kind === 'deploy' ? 'Deploy' : 'Refresh the link of'} ${titleOf(context, write)}`;
  const made = await writeCommit(git, { dir, tree, parent: base, author: AUTHOR, at: new Date(), message });
  await push(context, { branch, commit: made, expected });
}

function titleOf({ site }: Context, { version, jobId }: DeploymentWrite): string {
  return `${site} ${version ?? jobId}`;
}

async function fetchBranch({ git, dir, remote }: Clone, branch: string, ref: string): Promise<string> {
  const quiet = ['--quiet', '--no-tags', '--no-write-fetch-head', '--no-auto-maintenance', '--depth=1'];
  await git(['fetch', ...quiet, '--', remote.repository, `+refs/heads/${branch}:${ref}`], { dir, remote });
  return (await git(['rev-parse', '--verify', ref], { dir })).stdout.trim();
}

/** The branch of the pull request; null if there is none. */
async function fetchProposal(context: Context, branch: string): Promise<string | null> {
  const { commits } = await readRemote(context.git, context.remote, [branch]);
  return commits.has(branch) ? await fetchBranch(context, branch, PROPOSED) : null;
}

function proposalBranch({ site, settings: { path, branch } }: Pick<Context, 'site' | 'settings'>): string {
  const place = sha256Hex(`${branch}:${path}`).slice(0, 6);
  return `galley/deploy-${site}-${place}`;
}

type FileAt = { text: string; mode: string };

/** An empty text if there is no such file: the first deploy creates it. */
async function readFileAt({ git, dir }: Clone, commit: string, path: string): Promise<FileAt> {
  const listed = await git(['ls-tree', '-z', commit, '--', path], { dir });
  const [, mode, type, id] = /^(\d+) (\w+) ([0-9a-f]+)\t/.exec(listed.stdout) ?? [];
  if (mode === undefined || id === undefined) return { text: '', mode: '100644' };
  if (type !== 'blob' || mode === '120000') throw new Error(`${path} is no file in the repository`);
  const text = (await git(['cat-file', 'blob', id], { dir })).stdout;
  if (text.includes('\uFFFD')) throw new ValuesFileError(`${path} isn't UTF-8`);
  return { text, mode };
}

/** What people closed was never deployed, but writes that came before it are still late. */
function withoutClosed(merged: Sidecar | null, closed: Sidecar | null): Sidecar | null {
  const last = newest(merged, closed);
  if (merged === null || last === null || merged.site !== last.site) return last;
  return { ...merged, epoch: last.epoch, sequence: last.sequence };
}

/** A proposal counts while nothing newer was merged: of another site, no takeover of the same owner. */
function newest(merged: Sidecar | null, proposed: Sidecar | null): Sidecar | null {
  if (merged === null || proposed === null) return merged ?? proposed;
  const isNewer = merged.site === proposed.site ? isBefore(merged, proposed) : merged.epoch < proposed.epoch;
  return isNewer ? proposed : merged;
}

type Edit = FileAt & { path: string };

async function writeTree({ git, dir }: Context, base: string, edits: readonly Edit[]): Promise<string> {
  const environment = { GIT_INDEX_FILE: join(dir, 'galley-index') };
  await git(['read-tree', base], { dir, environment });
  for (const { path, mode, text } of edits) {
    const id = (await git(['hash-object', '-w', '--stdin'], { dir, input: text })).stdout.trim();
    await git(['update-index', '--add', '--cacheinfo', `${mode},${id},${path}`], { dir, environment });
  }
  return (await git(['write-tree'], { dir, environment })).stdout.trim();
}

type Push = { branch: string; commit: string; expected: string | null };

async function push({ git, dir, remote }: Context, { branch, commit, expected }: Push): Promise<void> {
  try {
    await pushBranch(git, { dir, remote, branch, commit, expected });
  } catch (error) {
    // Two pushes at once: the server may say that it couldn't lock the branch.
    const isLocked = error instanceof GitError && /lock|failed to update ref/.test(error.message);
    throw isLocked ? new GitError(error.message, 'conflict') : error;
  }
}

type Proposal = { branch: string; write: DeploymentWrite };

/** The branch's newest pull request if people closed it without merging it; otherwise null. */
async function findClosed({ forge, settings: { repository } }: Context, branch: string): Promise<PullRequest | null> {
  const last = await forge?.findPullRequest({ repository, branch });
  return last?.state === 'closed' ? last : null;
}

/** Keeps one pull request open, whose branch has the newest version. Returns its URL; null without a forge. */
async function proposeChange(context: Context, { branch, write }: Proposal): Promise<string | null> {
  const { forge, settings } = context;
  if (forge === undefined) return null;
  const { repository, branch: base, path } = settings;
  const title = proposalTitle(context, write);
  const body = `Galley sets \`staticExport\` in \`${path}\`. It keeps this pull request up to date until you merge it.\n`;
  const { url, title: before } = await forge.openPullRequest({ repository, branch, base, title, body });
  if (before !== title) await forge.updatePullRequest(url, { title });
  return url;
}

function proposalTitle(context: Context, write: DeploymentWrite): string {
  return `Deploy ${titleOf(context, write)}`;
}
