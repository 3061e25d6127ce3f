import type { ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import type { ContainedEnd, ContainedRun } from './contained-run.ts';
import { INSIDE, mountArgs } from './sandbox/mounts.ts';
import type { Sandbox } from './sandbox/read-sandbox.ts';
import { SANDBOX_CHECK_SCRIPT, SANDBOX_SCRIPT } from './sandbox/scripts.ts';
import { startChild } from './start-child.ts';
import { watchRun } from './watch-run.ts';

/** How long the first process of the namespace may take to take all others with it. */
const KILL_PATIENCE_MS = 2500;

/** How often to look whether bubblewrap has told of it. It does within milliseconds of its start. */
const ATTEMPT_MS = 10;

/**
 * Every namespace that bubblewrap has; a controlling terminal and capabilities are gone, and it dies with its parent. The
 * network's holds nothing but a loopback of its own.
 */
const ISOLATION = [
  ...['--unshare-net', '--unshare-pid', '--unshare-ipc', '--unshare-uts', '--unshare-cgroup-try'],
  ...['--hostname', 'galley'],
  ...['--cap-drop', 'ALL', '--new-session', '--die-with-parent', '--as-pid-1', '--info-fd', '4'],
];

/**
 * Runs a command in bubblewrap: its own processes and files, and no network but the proxy behind the socket, if any.
 * When this resolves, every process of the run is dead and its disk is gone; what is left is the report.
 */
export async function runSandboxed(run: ContainedRun, sandbox: Sandbox, proxySocket?: string): Promise<ContainedEnd> {
  const { limits, scratchDir, repositoryDir, readOnlyPaths, input } = run;
  const args = [
    ...sandbox.userArgs,
    ...ISOLATION,
    ...(await mountArgs({
      repositoryDir,
      scratchDir,
      scratchSizeBytes: limits.scratchSizeBytes,
      // New objects, the pack of them, and an index.
      collectSizeBytes: 3 * limits.changeLimitBytes + 64 * 1024 ** 2,
      readOnlyPaths,
      input,
      proxySocket,
    })),
    ...['--', '/bin/sh', '-c', run.collect ? SANDBOX_SCRIPT : SANDBOX_CHECK_SCRIPT, 'galley'],
    ...[INSIDE.scratch, INSIDE.collect, join(INSIDE.repository, 'objects'), run.commit],
    ...[input === undefined ? '' : INSIDE.input, proxySocket === undefined ? '' : process.execPath, ...run.words],
  ];
  const child = await startChild(sandbox.program, args, {
    // Variables go this way and not as arguments, which every user of the machine can read.
    env: { ...run.environment, HOME: INSIDE.home, TMPDIR: INSIDE.tmp, TERM: 'dumb' },
    stdio: ['pipe', 'pipe', 'pipe', 'pipe', 'pipe'],
    cwd: '/',
  });
  const firstProcess = readFirstProcess(child);
  return await watchRun({
    child,
    run,
    packFile: join(scratchDir, 'change.pack'),
    kill: () => killNamespace(child, firstProcess),
  });
}

/** bubblewrap tells the host's number of the namespace's process 1. */
function readFirstProcess(child: ChildProcess): () => number | undefined {
  let info = '';
  const stream = child.stdio[4];
  if (stream instanceof Readable) {
    stream.on('data', (bytes: Buffer) => {
      info += bytes.toString('utf8');
    });
  }
  return () => {
    const [, pid] = /"child-pid": *(\d+)/.exec(info) ?? [];
    return pid === undefined ? undefined : Number(pid);
  };
}

/**
 * Ends process 1, whose end the kernel completes only when all others of the namespace are dead; bubblewrap waits for
 * that. Ending bubblewrap itself would not say when they are, and in its first moments would leave one behind.
 */
function killNamespace(child: ChildProcess, firstProcess: () => number | undefined): void {
  const attempts = setInterval(attempt, ATTEMPT_MS);
  const patience = setTimeout(() => child.kill('SIGKILL'), KILL_PATIENCE_MS);
  child.once('exit', stop);
  attempt();

  function attempt(): void {
    const pid = firstProcess();
    if (pid === undefined) return;
    clearInterval(attempts);
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      child.kill('SIGKILL');
    }
  }
  function stop(): void {
    clearInterval(attempts);
    clearTimeout(patience);
  }
}
