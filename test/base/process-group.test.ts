import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { signalGroup } from '../../base/process-group.ts';
import { waitFor } from '../helpers/system/wait-for.ts';

const started: ChildProcess[] = [];
afterEach(() => {
  for (const child of started.splice(0)) signalGroup(child, 'SIGKILL');
});

/** Starts a leader that prints the process id of its `sleep`. */
async function startGroup(then: string): Promise<{ leader: ChildProcess; sleeper: number }> {
  const script = `sleep 3600 >/dev/null & echo $!; ${then}`;
  const leader = spawn('/bin/sh', ['-c', script], { detached: true, stdio: ['ignore', 'pipe', 'inherit'] });
  started.push(leader);
  const [line] = await once(leader.stdout, 'data');
  return { leader, sleeper: Number(line) };
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

describe('a signal to a process group', () => {
  it('reaches the leader and its children', async () => {
    const { leader, sleeper } = await startGroup('wait');
    const exited = once(leader, 'exit');
    signalGroup(leader, 'SIGKILL');
    expect(await exited).toEqual([null, 'SIGKILL']);
    await waitFor(() => !isAlive(sleeper), { describe: 'ended' });
  });

  it('reaches what a leader left behind', async () => {
    const { leader, sleeper } = await startGroup('exit');
    if (leader.exitCode === null) await once(leader, 'exit');
    signalGroup(leader, 'SIGTERM');
    await waitFor(() => !isAlive(sleeper), { describe: 'ended' });
  });

  it('reaches no other group that got the number of one that has ended', async () => {
    const { leader: stranger, sleeper } = await startGroup('wait');
    const ended = { pid: stranger.pid, exitCode: null, signalCode: 'SIGTERM' as const };
    signalGroup(ended, 'SIGKILL');
    expect(isAlive(sleeper)).toBe(true);
    expect([stranger.exitCode, stranger.signalCode]).toEqual([null, null]);
    // A delivered signal would have ended it before this one is.
    const exited = once(stranger, 'exit');
    signalGroup(stranger, 'SIGTERM');
    expect(await exited).toEqual([null, 'SIGTERM']);
  });

  it('is ignored by a group that has ended or never began', async () => {
    const leader = spawn('/bin/sh', ['-c', ':'], { detached: true });
    await once(leader, 'exit');
    signalGroup(leader, 'SIGKILL');
    signalGroup({ pid: undefined, exitCode: null, signalCode: null }, 'SIGKILL');
  });
});
