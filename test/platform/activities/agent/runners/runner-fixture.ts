import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import pino from 'pino';
import type { AgentOutcome, AgentRunner, AgentTask } from '../../../../../platform/activities/agent/agent-runner.ts';
import { DEFAULT_RUNNER_LIMITS } from '../../../../../platform/activities/agent/runners/runner-limits.ts';
import { gitIn, type TreeGit } from '../../../../helpers/script-runner.ts';

export type Entry = { mode: string; content: string };

export type Ran = {
  outcome: AgentOutcome;
  /** What the agent printed. */
  output: string;
  scratchDir: string;
};

export type TaskChanges = Partial<Pick<AgentTask, 'repositoryDir' | 'commit' | 'signal' | 'log'>>;

export type RunnerFixture = {
  repositoryDir: string;
  /** The first of two commits. The agent must not see the branch's newer one. */
  commit: string;
  git: TreeGit;
  /** A run in its own folder, of the first commit by default. */
  run(runner: AgentRunner, prompt: string, task?: TaskChanges): Promise<Ran>;
  /** A shallow repository with only the branch's newest commit. */
  shallowCopy(): Promise<{ repositoryDir: string; commit: string }>;
  /** The files of the tree that a run made, read from a repository that accepted the pack. Throws if nothing changed. */
  filesOf(outcome: AgentOutcome): Promise<Record<string, Entry>>;
  /** The ids of the objects in the pack. */
  packedObjects(outcome: AgentOutcome): Promise<string[]>;
  remove(): Promise<void>;
};

/** Files whose bytes git would change on checkout or add if it respected the attributes. */
export const FILES = {
  'README.md': { mode: '100644', content: 'Hello\n' },
  'docs/guide.md': { mode: '100644', content: 'A guide: Hello\n' },
  'windows.txt': { mode: '100644', content: 'one\r\ntwo\n' },
  'run.sh': { mode: '100755', content: '#!/bin/sh\necho Hello\n' },
  link: { mode: '120000', content: 'README.md' },
  '.gitattributes': { mode: '100644', content: '* text=auto eol=crlf\n*.md filter=planted\n' },
  '.gitignore': { mode: '100644', content: '*.log\nbuild/\n' },
} as const;

export const limits = { ...DEFAULT_RUNNER_LIMITS, timeoutMs: 60_000, scratchSizeBytes: 64 * 1024 ** 2 };
export const environment = { PATH: '/usr/local/bin:/usr/bin:/bin', LANG: 'C.UTF-8' };
const network = { allow: [], refuse: [] } as const;
export const common = { sandbox: 'on', network, environment, readOnlyPaths: [], limits } as const;
export const logger = pino({ level: 'silent' });

/** Shell programs for the contract's plans. */
export const shellPrograms = (marker: string) => ({
  replace: 'sed -i s/Hello/Bye/ README.md; echo done',
  nothing: 'touch README.md; git log; git status',
  fail: 'echo trouble; exit 3',
  'go on': `echo begun; trap "" TERM INT HUP; setsid sh -c 'while :; do sleep 1; done' ${marker} & sh -c 'sleep 600; : ${marker}'`,
});

/** A bare repository with two commits on its branch. */
export async function createRunnerFixture(): Promise<RunnerFixture> {
  const folder = await mkdtemp(join(tmpdir(), 'galley-runner-'));
  const repositoryDir = join(folder, 'repository.git');
  await gitIn(folder)('init', '--quiet', '--bare', '--initial-branch=main', repositoryDir);
  const git = gitIn(repositoryDir);
  const tree = await writeTree(repositoryDir, folder, FILES);
  const commit = await git('commit-tree', tree, '-m', 'Begin');
  const later = await writeTree(repositoryDir, folder, { later: { mode: '100644', content: 'later\n' } });
  await git('update-ref', 'refs/heads/main', await git('commit-tree', later, '-p', commit, '-m', 'Go on'));

  return {
    repositoryDir,
    commit,
    git,
    async run(runner, prompt, changes = {}) {
      const scratchDir = await mkdtemp(join(folder, 'scratch-'));
      const chunks: Uint8Array[] = [];
      const outcome = await runner.run({
        ...{ jobId: 'aj_0000000000000000', run: 1, prompt, scratchDir, repositoryDir, commit },
        signal: new AbortController().signal,
        ...changes,
        log: (chunk) => {
          chunks.push(chunk);
          changes.log?.(chunk);
        },
      });
      return { outcome, output: Buffer.concat(chunks).toString('utf8'), scratchDir };
    },
    async shallowCopy() {
      const dir = await mkdtemp(join(folder, 'shallow-'));
      await gitIn(folder)('clone', '--quiet', '--bare', '--depth=1', `file://${repositoryDir}`, dir);
      return { repositoryDir: dir, commit: await gitIn(dir)('rev-parse', 'HEAD') };
    },
    async filesOf(outcome) {
      const taken = await takePack(repositoryDir, folder, outcome);
      return readTree(gitIn(taken.dir), taken.tree);
    },
    async packedObjects(outcome) {
      const taken = await takePack(repositoryDir, folder, outcome);
      const [index = ''] = (await readdir(join(taken.dir, 'objects/pack'))).filter((name) => name.endsWith('.idx'));
      const lines = (await gitIn(taken.dir)('verify-pack', '-v', join('objects/pack', index))).split('\n');
      return lines.filter((line) => /^[0-9a-f]{40} /.test(line)).map((line) => line.slice(0, 40));
    },
    remove: async () => {
      // An agent may have removed our permissions on its folders. Only root can delete those without chmod.
      await execa('chmod', ['-R', 'u+rwX', folder]);
      await rm(folder, { recursive: true });
    },
  };
}

async function writeTree(repositoryDir: string, folder: string, files: Record<string, Entry>): Promise<string> {
  const env = { GIT_INDEX_FILE: join(await mkdtemp(join(folder, 'index-')), 'index'), GIT_DIR: repositoryDir };
  for (const [path, { mode, content }] of Object.entries(files)) {
    const { stdout: blob } = await execa('git', ['hash-object', '-w', '--stdin'], { env, input: content });
    await execa('git', ['update-index', '--add', '--cacheinfo', `${mode},${blob},${path}`], { env });
  }
  return (await execa('git', ['write-tree'], { env })).stdout;
}

/** Imports the pack as the platform does: strictly checked, and with the first repository as an alternate. */
async function takePack(repositoryDir: string, folder: string, outcome: AgentOutcome) {
  if (outcome.kind !== 'changed') throw new Error(`Expected a change: ${JSON.stringify(outcome)}`);
  const dir = await mkdtemp(join(folder, 'taken-'));
  await gitIn(folder)('init', '--quiet', '--bare', dir);
  await mkdir(join(dir, 'objects/info'), { recursive: true });
  await writeFile(join(dir, 'objects/info/alternates'), `${repositoryDir}/objects\n`);
  await execa('git', ['index-pack', '--stdin', '--strict'], { cwd: dir, inputFile: outcome.packFile });
  await execa('git', ['fsck', '--strict', '--no-dangling', outcome.tree], { cwd: dir });
  return { dir, tree: outcome.tree };
}

async function readTree(git: TreeGit, tree: string): Promise<Record<string, Entry>> {
  const lines = (await git('ls-tree', '-r', '-z', tree)).split('\0').filter((line) => line !== '');
  const entries = lines.map(async (line) => {
    const [info = '', path = ''] = line.split('\t');
    const [mode = '', , id = ''] = info.split(' ');
    // A submodule's commit is in another repository.
    if (mode === '160000') return [path, { mode, content: id }] as const;
    const { stdout } = await execa('git', ['cat-file', 'blob', id], {
      env: { GIT_DIR: await git('rev-parse', '--absolute-git-dir') },
      stripFinalNewline: false,
    });
    return [path, { mode, content: stdout }] as const;
  });
  return Object.fromEntries(await Promise.all(entries));
}

/** The processes of this machine whose command line contains `text`. */
export async function processesNaming(text: string): Promise<string[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name) && name !== `${process.pid}`);
  const lines = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')));
  return lines.filter((line) => line.includes(text)).map((line) => line.replaceAll('\0', ' '));
}
