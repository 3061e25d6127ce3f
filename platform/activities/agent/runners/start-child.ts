import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { once } from 'node:events';

/**
 * Starts a program, without a shell. Rejects where the machine can't start it: without this, a worker that has run out
 * of file descriptors would end by an error event that nobody listens to.
 */
export async function startChild(program: string, args: string[], options: SpawnOptions): Promise<ChildProcess> {
  const child = spawn(program, args, options);
  await once(child, 'spawn');
  // A signal that can't be delivered is told the same way; whoever sends one looks at the process's end.
  child.on('error', () => {});
  return child;
}
