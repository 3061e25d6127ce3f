import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { CANCELLED } from '../../../contract/admin-api.ts';
import { fetchCommit } from '../../../forge/git/fetch-commit.ts';
import type { Git, Remote } from '../../../forge/git/git.ts';
import { GitError } from '../../../forge/git/git-error.ts';
import { pushBranch } from '../../../forge/git/push-branch.ts';
import { readRemote } from '../../../forge/git/read-remote.ts';
import { writeCommit } from '../../../forge/git/write-commit.ts';
import { admitPack } from '../../git/admit-pack.ts';
import { changedFiles } from '../../git/changed-files.ts';
import { screenChange } from '../../git/screen-change.ts';
import type { AgentJobRow } from '../../store/agent-jobs.ts';
import { type AgentRun, type AgentRunKey, keepRunCommit, keptOutcome } from '../../store/agent-runs.ts';
import { getProject } from '../../store/projects.ts';
import type { AgentContext } from './agent-deps.ts';
import { agentStep, impossible, remoteOf, type StepTools } from './agent-step.ts';
import { commitMessage } from './pull-request-text.ts';
import { readRun } from './read-run.ts';
import { plainText } from './run-log.ts';
import { withWorkFolder } from './work-folder.ts';

/** Longest path that an error message shows. */
const PATH_CHARACTERS = 200;

export type PushInput = AgentRunKey & {
  /** The branch's other accepted position: left there by an ended pull request. */
  replaces: string | null;
  finished: string | null;
};

type PushedChange = {
  commit: string;
  /** The page of the branch's pull request if it had ended before the push, so this change needs a new one. */
  finished: string | null;
};

/**
 * Commits what the agent left and pushes it to the job's branch. Commits are reproducible within a release, and the
 * commit is stored before the push, so a repeated call finds it on the branch. A branch that someone else has moved is
 * left alone.
 */
export function pushChange(context: AgentContext, input: PushInput): Promise<PushedChange> {
  return agentStep(context, { key: input, details: () => 'pushing the change' }, async (tools) => {
    const { job, run } = await readRun(context.db, input);
    const remote = await remoteOf(context, job.repository);
    const head = await headOf(tools.git, remote, job);
    if (run.commit !== null && head === run.commit) {
      // Use what the pushing attempt found: a pull request that ended since then looks the same now.
      return { commit: run.commit, finished: run.endedPrLink ?? input.finished };
    }
    if (head !== null && head !== run.baseCommit && head !== input.replaces) throw moved(job);

    // A pull request that ended while the agent worked can't take the change.
    const last = await context.forgeFor(job.repository).findPullRequest(job);
    const finished = last !== null && last.state !== 'open' ? last.url : input.finished;
    const commit = await withWorkFolder(context, async (folder) => {
      const dir = join(folder, 'repository.git');
      const made = await makeCommit(context, { dir, folder, job, run, remote, tools });
      const isKept = await keepRunCommit(context.db, { ...input, commit: made, endedPrLink: finished });
      if (!isKept) throw impossible(CANCELLED);
      await push(tools.git, { dir, remote, job, commit: made, expected: head });
      return made;
    });
    return { commit, finished };
  });
}

async function headOf(git: Git, remote: Remote, { branch }: AgentJobRow): Promise<string | null> {
  return (await readRemote(git, remote, [branch])).commits.get(branch) ?? null;
}

type Making = { dir: string; folder: string; job: AgentJobRow; run: AgentRun; remote: Remote; tools: StepTools };

/** Work in a fresh repository that the agent has never seen: its result comes in as objects only, checked by git. */
async function makeCommit(context: AgentContext, { dir, folder, job, run, remote, tools }: Making): Promise<string> {
  const { git, signal } = tools;
  const outcome = keptOutcome(run);
  if (outcome?.kind !== 'changed' || run.baseCommit === null || run.startedAt === null) {
    throw new Error(`The run ${run.run} of ${job.id} left nothing to push`);
  }
  const branches = [job.branch, ...(job.ref === null ? [] : [job.ref])];
  await fetchCommit(git, { dir, remote, commit: run.baseCommit, branches });
  const packFile = join(folder, 'change.pack');
  await pipeline(await context.objects.get(outcome.packKey), createWriteStream(packFile), { signal });
  await admitPack(git, { dir, packFile, tree: outcome.tree, maxBytes: context.maxPackBytes });
  const files = await changedFiles(git, { dir, from: run.baseCommit, to: outcome.tree });
  const project = job.projectId === null ? undefined : await getProject(context.db, job.projectId);
  const paths = project?.settings.agentPaths ?? null;
  const refused = await screenChange(git, { dir, files, paths, secrets: context.secrets }, shown);
  if (refused !== null) throw impossible(refused);
  const { author, signingKey, logger } = context;
  const message = commitMessage({ prompt: run.prompt, jobId: job.id });
  const { tree } = outcome;
  const content = { dir, tree, parent: run.baseCommit, author, signingKey, at: run.startedAt, message };
  return writeCommit(git, content).catch((error: unknown) => {
    if (signingKey === null || !(error instanceof GitError) || !/\bkey\b|passphrase|ssh-keygen/i.test(error.message))
      throw error;
    // Its message names a file of the operator.
    logger.error({ error: error.message }, 'The key of AGENT_COMMIT_SIGNING_KEY signs no commit');
    throw impossible("The commit can't be signed: the operator has to check AGENT_COMMIT_SIGNING_KEY");
  });
}

/** A printable path: the agent chose it, so it may hold anything. */
function shown(path: string): string {
  return plainText(path).replaceAll(/\s+/gu, ' ').slice(0, PATH_CHARACTERS);
}

type Push = { dir: string; remote: Remote; job: AgentJobRow; commit: string; expected: string | null };

async function push(git: Git, { dir, remote, job, commit, expected }: Push): Promise<void> {
  try {
    await pushBranch(git, { dir, remote, branch: job.branch, commit, expected });
  } catch (error) {
    if (!(error instanceof GitError)) throw error;
    // Another attempt of this step may have pushed, or the response to the push was lost.
    if ((await headOf(git, remote, job)) === commit) return;
    if (error.reason === 'conflict') throw moved(job);
    throw error.reason === 'rejected' && MAYBE_UNSIGNED.test(error.message) ? unsigned(error) : error;
  }
}

function moved({ branch }: AgentJobRow) {
  return impossible(
    `Somebody pushed to ${branch} while the agent worked, so its change was not pushed. A message starts from there`,
  );
}

/** GitHub's words. Gitea 1.26 only reports an internal error. */
const MAYBE_UNSIGNED = /verified|signature|internal server error/i;

function unsigned({ message }: GitError): GitError {
  const hint = 'If its branches require signed commits, see AGENT_COMMIT_SIGNING_KEY and AGENT_COMMIT_EMAIL';
  return new GitError(`${message}. ${hint}`, 'rejected');
}
