import { randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { execa } from 'execa';
import { signalGroup } from '../../../../base/process-group.ts';
import type { ContainedEnd, ContainedRun } from './contained-run.ts';
import { PLAIN_COLLECT_SCRIPT, PLAIN_RUN_SCRIPT } from './sandbox/scripts.ts';
import { startChild } from './start-child.ts';
import { watchRun } from './watch-run.ts';

/** The variable that identifies a run's processes. */
const MARKER = 'GALLEY_AGENT_RUN';

type PlainFolders = { agent: string; collect: string };

function foldersOf(scratchDir: string): PlainFolders {
  return { agent: join(scratchDir, 'agent'), collect: join(scratchDir, 'collect') };
}

/**
 * Runs a command as an ordinary process, in its own process group and folders. Time and output are limited, disk isn't.
 * A process that leaves the group is found by its environment, unless it cleared that too.
 */
export async function runPlain(run: ContainedRun): Promise<ContainedEnd> {
  try {
    const first = await runScript(run, PLAIN_RUN_SCRIPT, run.words);
    const isOver = first.endedBy !== null || first.report.ending !== null || first.report.exitCode !== 0;
    return isOver ? first : await collectPlain(run);
  } finally {
    await removeTree(foldersOf(run.scratchDir).agent);
  }
}

/** The agent may have removed permissions or made paths too deep for Node; these programs handle both. */
async function removeTree(folder: string): Promise<void> {
  await execa('chmod', ['-R', 'u+rwX', folder], { reject: false, stdio: 'ignore' });
  await execa('rm', ['-rf', folder], { reject: false, stdio: 'ignore' });
}

/** Stores the tree of a checkout after all its writers have ended. */
async function collectPlain(run: ContainedRun): Promise<ContainedEnd> {
  const end = await runScript(run, PLAIN_COLLECT_SCRIPT, []);
  return { ...end, report: { ...end.report, ready: true, exitCode: 0 } };
}

async function runScript(run: ContainedRun, script: string, words: readonly string[]): Promise<ContainedEnd> {
  const { agent, collect } = foldersOf(run.scratchDir);
  await mkdir(agent, { recursive: true });
  const marker = randomUUID();
  const settings = [agent, collect, join(run.repositoryDir, 'objects'), run.commit, ''];
  const child = await startChild('/bin/sh', ['-c', script, 'galley', ...settings, ...words], {
    env: {
      ...run.environment,
      HOME: join(agent, 'home'),
      TMPDIR: join(agent, 'tmp'),
      TERM: 'dumb',
      [MARKER]: marker,
    },
    stdio: ['pipe', 'pipe', 'pipe', 'pipe'],
    cwd: '/',
    // In its own session and process group, so that all of it can be killed at once.
    detached: true,
  });
  const killAll = async (): Promise<void> => {
    signalGroup(child, 'SIGKILL');
    await killMarked(`${MARKER}=${marker}`);
  };
  return await watchRun({
    child,
    run,
    packFile: join(run.scratchDir, 'change.pack'),
    kill: () => signalGroup(child, 'SIGKILL'),
    settle: killAll,
  });
}

/** More rounds than any honest program needs. A program that keeps forking on purpose can't be caught this way. */
const MAX_ROUNDS = 20;

/** Kills all processes whose initial environment held that variable. Finds none without /proc. */
async function killMarked(variable: string): Promise<void> {
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const names = await readdir('/proc').catch(() => []);
    const pids = names.filter((name) => /^\d+$/.test(name)).map(Number);
    const killed = await Promise.all(pids.map((pid) => killIfMarked(pid, variable)));
    if (!killed.includes(true)) return;
    await delay(20);
  }
}

/** Kills it as soon as its environment was read: later, its number may be another's. */
async function killIfMarked(pid: number, variable: string): Promise<boolean> {
  const environment = await readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '');
  if (!environment.split('\0').includes(variable)) return false;
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has already ended.
  }
  return true;
}
