import type { ChildProcess } from 'node:child_process';

/** A child that was started as the leader of a process group (`detached`). */
export type GroupLeader = Pick<ChildProcess, 'pid' | 'exitCode' | 'signalCode'>;

/**
 * Signals all processes of a child's group, also those that it left behind when it ended. A group without processes is
 * ignored.
 */
export function signalGroup(leader: GroupLeader, signal: NodeJS.Signals): void {
  const { pid } = leader;
  if (pid === undefined || hasNewLeader(leader, pid)) return;
  send(-pid, signal);
}

/** Once the group is empty, the system may give its number to a new process, and so to a stranger's group. */
function hasNewLeader({ exitCode, signalCode }: GroupLeader, pid: number): boolean {
  return (exitCode !== null || signalCode !== null) && send(pid, 0);
}

/** Whether the process or group exists and accepts signals from this process. */
function send(id: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(id, signal);
  } catch {
    return false;
  }
}
