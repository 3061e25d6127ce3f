import type { ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import type { ContainedEnd, ContainedRun } from './contained-run.ts';
import { INSIDE, mountArgs } from './sandbox/mounts.ts';
import type { Sandbox } from './sandbox/read-sandbox.ts';
import { SANDBOX_SCRIPT } from './sandbox/scripts.ts';
import { startChild } from './start-child.ts';
import { watchRun } from './watch-run.ts';

/** How long the kernel may take to kill the namespace's processes after its first one. */
const KILL_TIMEOUT_MS = 2500;

/** How often to check whether bubblewrap has reported the process id. It does so milliseconds after its start. */
const ATTEMPT_MS = 10;

/**
 * All namespaces that bubblewrap has, without a controlling terminal and capabilities; it dies with its parent. The
 * network namespace only has a loopback of its own.
 */
const ISOLATION = [
  ...['--unshare-net', '--unshare-pid', '--unshare-ipc', '--unshare-uts', '--unshare-cgroup-try'],
  ...['--hostname', 'galley'],
  ...['--cap-drop', 'ALL', '--new-session', '--die-with-parent', '--as-pid-1', '--info-fd', '4'],
];

/**
 * Runs a command in bubblewrap: its own processes and files, and no network but the proxy behind the socket, if any.
 * When this resolves, all processes of the run are dead and its disk is gone; only the report is left.
 */
export async function runSandboxed(run: ContainedRun, sandbox: Sandbox, proxySocket?: string): Promise<ContainedEnd> {
  const { limits, scratchDir, repositoryDir, readOnlyPaths } = run;
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
      proxySocket,
    })),
    ...['--', '/bin/sh', '-c', SANDBOX_SCRIPT, 'galley'],
    ...[INSIDE.scratch, INSIDE.collect, join(INSIDE.repository, 'objects'), run.commit],
    ...[proxySocket === undefined ? '' : process.execPath, ...run.words],
  ];
  const child = await startChild(sandbox.program, args, {
    // Variables are passed this way and not as arguments, which every user of the machine can read.
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

/** bubblewrap reports the host's process id of the namespace's process 1. */
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
 * Kills process 1: the kernel completes that only when all others in the namespace are dead, and bubblewrap waits for
 * it. Killing bubblewrap itself wouldn't show when they are, and right after its start it would leave one behind.
 */
function killNamespace(child: ChildProcess, firstProcess: () => number | undefined): void {
  const attempts = setInterval(attempt, ATTEMPT_MS);
  const killTimer = setTimeout(() => child.kill('SIGKILL'), KILL_TIMEOUT_MS);
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
    clearTimeout(killTimer);
  }
}
