import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, cp, mkdir, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { execa } from 'execa';
import type { AgentOutcome, AgentRunner, AgentTask } from '../../platform/activities/agent/agent-runner.ts';

/**
 * An agent for tests, with real git on a real work tree. Each line of the prompt is a command: `write PATH TEXT`,
 * `remove PATH`, `executable PATH`, `print TEXT`, `pause MS`, `wait` (starts a process that runs for an hour), `fail`. Other lines are ignored.
 */
export class ScriptRunner implements AgentRunner {
  readonly model = 'script';
  /** The started tasks, oldest first. */
  readonly tasks: AgentTask[] = [];
  /** The processes of `wait`. */
  readonly pids: number[] = [];

  async run(task: AgentTask): Promise<AgentOutcome> {
    this.tasks.push(task);
    const tree = join(task.scratchDir, 'tree');
    const git = gitIn(tree);
    await mkdir(tree);
    await git('init', '--quiet');
    await writeFile(join(tree, '.git/objects/info/alternates'), `${task.repositoryDir}/objects\n`);
    const shallow = join(task.repositoryDir, 'shallow');
    if (await isThere(shallow)) await cp(shallow, join(tree, '.git/shallow'));
    await git('reset', '--quiet', '--hard', task.commit);
    for (const line of task.prompt.split('\n')) {
      if (line === 'fail') return { kind: 'failed', error: 'The agent ended with exit code 3' };
      await this.#execute(line, tree, task);
    }
    await git('add', '--all');
    return packTree(git, { tree: await git('write-tree'), commit: task.commit, dir: task.scratchDir });
  }

  async #execute(line: string, tree: string, { log, signal }: AgentTask): Promise<void> {
    const [command, first = '', ...rest] = line.split(' ');
    const path = join(tree, first);
    if (command === 'write') {
      await mkdir(dirname(path), { recursive: true });
      await writeFile(path, `${rest.join(' ')}\n`);
    } else if (command === 'remove') await rm(path);
    else if (command === 'executable') await chmod(path, 0o755);
    else if (command === 'print') log(Buffer.from(`${line.slice('print '.length)}\n`));
    else if (command === 'pause') await sleep(Number(first), undefined, { signal });
    else if (command === 'wait') await this.#wait(signal);
  }

  async #wait(signal: AbortSignal): Promise<void> {
    const child = spawn('sleep', ['3600'], { stdio: 'ignore' });
    if (child.pid !== undefined) this.pids.push(child.pid);
    signal.addEventListener('abort', () => child.kill('SIGKILL'));
    await once(child, 'exit');
    signal.throwIfAborted();
  }
}

export type TreeGit = (...args: string[]) => Promise<string>;

/** Runs git in a work tree or a bare repository with a fixed identity. */
export function gitIn(cwd: string, input?: string): TreeGit {
  const author = { GIT_AUTHOR_NAME: 'Ada', GIT_AUTHOR_EMAIL: 'ada@example.com' };
  const committer = { GIT_COMMITTER_NAME: 'Ada', GIT_COMMITTER_EMAIL: 'ada@example.com' };
  const env = { ...author, ...committer, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' };
  return async (...args) => (await execa('git', args, { cwd, env, ...(input !== undefined && { input }) })).stdout;
}

/** A runner's outcome for a tree: `unchanged`, or a pack of the objects that the commit doesn't have. */
export async function packTree(
  git: TreeGit,
  { tree, commit, dir }: { tree: string; commit: string; dir: string },
): Promise<AgentOutcome> {
  if (tree === (await git('rev-parse', `${commit}^{tree}`))) return { kind: 'unchanged' };
  const packFile = join(dir, 'change.pack');
  const gitDir = await git('rev-parse', '--absolute-git-dir');
  await execa('git', ['pack-objects', '--revs', '--stdout', '--quiet'], {
    cwd: gitDir,
    input: `${tree}\n^${commit}\n`,
    stdout: { file: packFile },
  });
  return { kind: 'changed', packFile, tree };
}

function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
