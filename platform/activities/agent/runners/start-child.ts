import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';

type ChildOptions = Omit<SpawnOptions, 'stdio'> & { stdio: ReadonlyArray<'pipe' | 'ignore'> };

/**
 * Starts a program without a shell, with no open descriptors but those of `stdio`. Rejects if the machine can't start it:
 * otherwise a worker that has run out of file descriptors would crash by an unhandled error event.
 */
export async function startChild(
  program: string,
  args: string[],
  { stdio, ...options }: ChildOptions,
): Promise<ChildProcess> {
  const inherited = await inheritedDescriptors();
  const nothing = openSync('/dev/null', 'r+');
  let child: ChildProcess;
  try {
    const count = Math.max(stdio.length, ...inherited.map((descriptor) => descriptor + 1));
    const all = Array.from({ length: count }, (_, index) => {
      return stdio[index] ?? (inherited.includes(index) ? nothing : 'ignore');
    });
    child = spawn(program, args, { ...options, stdio: all });
  } finally {
    // At once: a child may end while something else is awaited, and its end would be missed.
    closeSync(nothing);
  }
  await once(child, 'spawn');
  // A signal that can't be delivered emits the same event; its sender checks whether the process has ended.
  child.on('error', () => {});
  return child;
}

const CLOSE_ON_EXEC = 0o2000000;

/**
 * Descriptors that whoever started this process left open. Its children would get them too: Node opens its own to be
 * closed in children, but doesn't change all that it inherits. Empty on systems other than Linux, whose agents run
 * without a sandbox.
 */
async function inheritedDescriptors(): Promise<number[]> {
  const names = await readdir('/proc/self/fdinfo').catch(() => []);
  const inherited = await Promise.all(
    names.map(async (name) => {
      // One that has been closed meanwhile has no flags.
      const info = await readFile(`/proc/self/fdinfo/${name}`, 'utf8').catch(() => '');
      const [, flags] = /^flags:\s*([0-7]+)$/m.exec(info) ?? [];
      return flags !== undefined && (Number.parseInt(flags, 8) & CLOSE_ON_EXEC) === 0 ? [Number(name)] : [];
    }),
  );
  return inherited.flat();
}
