import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { Socket } from 'node:net';
import { signalGroup } from '../base/process-group.ts';

/**
 * Runs the program and ends it when descriptor 3 closes. That descriptor is a pipe from this process, which the system
 * closes even after SIGKILL, so no child is ever left behind. The program's id is sent back over it.
 */
const GUARD = `
"$@" 3<&- &
child=$!
echo "$child" >&3
{
  read -r _ <&3
  kill -TERM "$child"
  trap 'kill "$nap"; exit 0' TERM
  sleep 5 & nap=$!
  wait "$nap"
  kill -KILL "$child"
} >/dev/null 2>&1 &
watcher=$!
exec 3<&-
wait "$child"
code=$?
kill "$watcher" 2>/dev/null
exit "$code"
`;

export interface GuardedChild {
  process: ChildProcess;
  /** The beginning and the end of what it wrote on both outputs. */
  output(): string;
  /** Resolves when it has ended for any reason. */
  exited: Promise<void>;
  /** Terminates it; after 5 s kills it. */
  stop(): Promise<void>;
  /** Kills it, as a crash would. */
  kill(): Promise<void>;
  /** Stops the program, as Ctrl-Z does, until the returned function is called. Not on Windows. */
  pause(): Promise<() => void>;
}

/** A long stack trace must not hide the reason, which comes first. */
const HEAD_CHARACTERS = 2_000;
const TAIL_CHARACTERS = 4_000;

/** Starts a program that can't outlive this process. Ctrl-C in the terminal doesn't reach it: `stop` ends it. */
export function spawnGuarded(command: string, args: readonly string[], env: NodeJS.ProcessEnv): GuardedChild {
  const posix = process.platform !== 'win32';
  const child = posix
    ? spawn('/bin/sh', ['-c', GUARD, 'galley-guard', command, ...args], {
        stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
        detached: true,
        env,
      })
    : spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], env, windowsHide: true });
  let head = '';
  let tail = '';
  let isCut = false;
  const collect = (chunk: Buffer): void => {
    const text = chunk.toString('utf8');
    const room = HEAD_CHARACTERS - head.length;
    head += text.slice(0, room);
    tail += text.slice(room);
    isCut ||= tail.length > TAIL_CHARACTERS;
    tail = tail.slice(-TAIL_CHARACTERS);
  };
  child.stdout?.on('data', collect);
  child.stderr?.on('data', collect);
  const exited = new Promise<void>((resolve) => {
    // Not 'exit', which is the guard's: the outputs close when the program itself, which shares them, has ended.
    child.once('close', () => resolve());
    child.once('error', (error) => {
      tail += error.message;
      resolve();
    });
  });
  const lifeline = child.stdio[3];
  const programId = readProgramId(lifeline);
  programId.catch(() => undefined);
  return {
    process: child,
    output: () => head + (isCut ? '\n…\n' : '') + tail,
    exited,
    stop: async () => {
      if (lifeline instanceof Socket) lifeline.destroy();
      else child.kill();
      await exited;
    },
    kill: async () => {
      // The group: the guard's shell, its watcher and the program.
      if (posix) signalGroup(child, 'SIGKILL');
      else child.kill('SIGKILL');
      await exited;
    },
    pause: async () => {
      // Not the group: the guard must still be able to end the program.
      const id = await programId;
      process.kill(id, 'SIGSTOP');
      return () => process.kill(id, 'SIGCONT');
    },
  };
}

async function readProgramId(lifeline: unknown): Promise<number> {
  if (!(lifeline instanceof Socket)) throw new Error('This system has no signals to pause a program');
  const [line] = await once(lifeline, 'data');
  return Number(line);
}
