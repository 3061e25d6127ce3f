import { createReadStream } from 'node:fs';
import { lstat, mkdir } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { ApplicationFailure } from '@temporalio/common';
import { ForgeError } from '../../../forge/forge-error.ts';
import { fetchCommit } from '../../../forge/git/fetch-commit.ts';
import type { Git } from '../../../forge/git/git.ts';
import { GitError } from '../../../forge/git/git-error.ts';
import type { AgentJobRow } from '../../store/agent-jobs.ts';
import {
  type AgentRun,
  type AgentRunKey,
  type AgentRunOutcome,
  keepRunLog,
  keepRunOutcome,
  keptOutcome,
} from '../../store/agent-runs.ts';
import type { AgentContext } from './agent-deps.ts';
import type { AgentOutcome } from './agent-runner.ts';
import { AGENT_TROUBLE, agentStep, remoteOf, type StepTools } from './agent-step.ts';
import { keepTrying } from './keep-trying.ts';
import { maskSecrets } from './mask-secrets.ts';
import { logKey, packKey } from './object-keys.ts';
import { readRun } from './read-run.ts';
import { createRunLog, plainText, type RunLog } from './run-log.ts';
import { uploadWhileGrowing } from './upload-log.ts';
import { withWorkFolder } from './work-folder.ts';

/** The result for the workflow; everything else stays in the row and the object store. */
type AgentRunEnd = { kind: 'changed' | 'unchanged' | 'failed' };

/** The run's current step, for the heartbeat. */
type Progress = { stage: 'fetching' | 'working' | 'storing'; printedBytes: number };

/**
 * Fetches the start commit, runs the agent, and stores its tree as a pack and its output as a log. If an earlier
 * attempt stored a result, the agent doesn't run again.
 */
export async function runAgent(context: AgentContext, key: AgentRunKey): Promise<AgentRunEnd> {
  const progress: Progress = { stage: 'fetching', printedBytes: 0 };
  return agentStep(context, { key, details: () => ({ ...progress }) }, async (tools) => {
    const { job, run } = await readRun(context.db, key);
    const kept = keptOutcome(run);
    if (kept !== undefined) return { kind: kept.kind };
    return withWorkFolder(context, (folder) => runIn(folder, context, { job, run, progress, tools }));
  });
}

type Work = { job: AgentJobRow; run: AgentRun; progress: Progress; tools: StepTools };

async function runIn(folder: string, context: AgentContext, { job, run, progress, tools }: Work): Promise<AgentRunEnd> {
  const { db, objects, logger, secrets } = context;
  const { git, signal } = tools;
  const key = { jobId: job.id, run: run.run };
  const commit = run.baseCommit;
  if (commit === null) throw new Error(`The run ${run.run} of ${job.id} has nothing to start from`);
  const repositoryDir = join(folder, 'repository.git');
  const scratchDir = join(folder, 'scratch');
  await mkdir(scratchDir, { mode: 0o700 });
  const branches = [job.branch, ...(job.ref === null ? [] : [job.ref])];
  const fetch = async () => {
    const remote = await remoteOf(context, job.repository);
    await fetchCommit(git, { dir: repositoryDir, remote, commit, branches });
  };
  await keepTrying(signal, fetch, mayPass);

  progress.stage = 'working';
  const log = createRunLog({ maxBytes: context.maxLogBytes, secrets });
  const where = logKey(job.id, run.run);
  const onStored = (logSizeBytes: number) => keepRunLog(db, { ...key, logKey: where, logSizeBytes });
  const upload = uploadWhileGrowing(log, { objects, key: where, signal, logger, onStored });
  const task = { ...key, prompt: run.prompt, repositoryDir, commit, scratchDir, signal };
  let outcome: AgentOutcome;
  try {
    outcome = await runRunner(context, {
      ...task,
      log: (chunk) => {
        log.write(chunk);
        progress.printedBytes = log.writtenBytes;
      },
    });
  } finally {
    log.end();
    await upload.finish().catch((error: unknown) => {
      logger.warn({ err: error, ...key }, 'The log of a run could not be stored');
    });
  }

  signal.throwIfAborted();
  progress.stage = 'storing';
  const storable = await storableOutcome(context, {
    ...key,
    outcome,
    log,
    git,
    repositoryDir,
    scratchDir,
    commit,
    signal,
  });
  const { kind } = await keepTrying(signal, () => keepRunOutcome(db, { ...key, outcome: storable }));
  return { kind };
}

/** This step is retried only a few times as a whole. */
function mayPass(error: unknown): boolean {
  return (error instanceof GitError || error instanceof ForgeError) && error.retryable;
}

/** A runner's error may quote its command line and so the prompt: report only its kind. */
async function runRunner(
  { runner, logger }: AgentContext,
  task: Parameters<AgentContext['runner']['run']>[0],
): Promise<AgentOutcome> {
  try {
    return await runner.run(task);
  } catch (error) {
    task.signal.throwIfAborted();
    const kind = error instanceof Error ? error.name : typeof error;
    logger.warn({ jobId: task.jobId, run: task.run, kind }, 'An agent could not be run');
    throw ApplicationFailure.retryable(`The agent could not be run (${kind})`, AGENT_TROUBLE);
  }
}

/** How much of the output a failed job's error includes. */
const TAIL_CHARACTERS = 2_000;

type Left = AgentRunKey & {
  outcome: AgentOutcome;
  log: RunLog;
  git: Git;
  repositoryDir: string;
  scratchDir: string;
  commit: string;
  signal: AbortSignal;
};

/**
 * An outcome as the row stores it: the pack goes to the object store; a failure has its reason and the end of the
 * output. A pack that is missing or too large is a failure too. The pack is checked when it is used.
 */
async function storableOutcome(context: AgentContext, left: Left): Promise<AgentRunOutcome> {
  const { outcome } = left;
  if (outcome.kind === 'unchanged') return outcome;
  if (outcome.kind === 'failed') return failed(context, left, outcome.error);
  const { stdout } = await left.git(['rev-parse', '--verify', `${left.commit}^{tree}`], { dir: left.repositoryDir });
  if (stdout.trim() === outcome.tree) return { kind: 'unchanged' };

  const packFile = resolve(left.scratchDir, outcome.packFile);
  const info = await lstat(packFile).catch(() => undefined);
  if (relative(left.scratchDir, packFile).startsWith('..') || info === undefined || !info.isFile()) {
    return failed(context, left, 'The agent left no pack of its changes');
  }
  if (info.size > context.maxPackBytes) {
    return failed(context, left, `The agent's change is larger than ${context.maxPackBytes} bytes`);
  }
  if (!/^[0-9a-f]{40,64}$/.test(outcome.tree)) return failed(context, left, 'The agent left no tree');
  const key = packKey(left.jobId, left.run, outcome.tree);
  const options = { contentType: 'application/octet-stream', sizeBytes: info.size };
  await keepTrying(left.signal, () => context.objects.put(key, createReadStream(packFile), options));
  return { kind: 'changed', tree: outcome.tree, packKey: key };
}

function failed({ secrets }: AgentContext, { log }: Left, reason: string): AgentRunOutcome {
  const tail = log.tail(TAIL_CHARACTERS);
  const sentence = plainText(maskSecrets(reason, secrets));
  return { kind: 'failed', error: tail === '' ? sentence : `${sentence}\n\n${tail}` };
}
