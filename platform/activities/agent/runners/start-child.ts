import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { once } from 'node:events';

/**
 * Starts a program without a shell. Rejects if the machine can't start it: otherwise a worker that has run out of file
 * descriptors would crash by an unhandled error event.
 */
export async function startChild(program: string, args: string[], options: SpawnOptions): Promise<ChildProcess> {
  const child = spawn(program, args, options);
  await once(child, 'spawn');
  // A signal that can't be delivered emits the same event; its sender checks whether the process has ended.
  child.on('error', () => {});
  return child;
}
