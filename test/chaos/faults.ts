import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { answerWith, loseAnswer } from '../helpers/system/faults.ts';
import type { Behaviour, InterceptingProxy } from '../helpers/system/intercepting-proxy.ts';
import type { Programs } from '../helpers/system/programs.ts';
import type { ToxicProxy } from '../helpers/toxiproxy.ts';
import type { FaultKind } from './choose.ts';

/** Ends a fault. */
export type Heal = () => Promise<unknown>;

/** Begins a fault of one part of the system. */
export type Victim = (kind: FaultKind) => Promise<Heal>;

/** @param clock a file that the program's clock follows (shifted-clock.js) */
export function programVictim(programs: Programs, name: string, clock: string): Victim {
  const group = (): number => programs.get(name).pid;
  return async (kind) => {
    if (kind === 'kill') {
      await programs.kill(name);
      return () => programs.restart(name);
    }
    if (kind === 'clock-ahead' || kind === 'clock-back') {
      await writeFile(clock, String(kind === 'clock-ahead' ? CLOCK_JUMP_MS : -CLOCK_JUMP_MS));
      return () => writeFile(clock, '0');
    }
    if (kind === 'full-disk') {
      await limitFiles(group(), '0');
      return () => limitFiles(group(), 'unlimited');
    }
    // The group: the program and the shell that guards it.
    process.kill(-group(), 'SIGSTOP');
    return async () => process.kill(-group(), 'SIGCONT');
  };
}

/** Longer than the lifetime of a link. */
const CLOCK_JUMP_MS = 10 * 60_000;

const run = promisify(execFile);

/** Limits the files that the processes of a group write: at `0`, every write to a file fails. */
async function limitFiles(group: number, limit: '0' | 'unlimited'): Promise<void> {
  const { stdout } = await run('pgrep', ['-g', String(group)]);
  const pids = stdout.trim().split('\n');
  // One may have ended meanwhile.
  await Promise.all(pids.map((pid) => run('prlimit', ['--pid', pid, `--fsize=${limit}:`]).catch(() => undefined)));
}

export function serverVictim(server: { kill(): Promise<void>; restart(): Promise<void> }, proxy: ToxicProxy): Victim {
  return async (kind) => {
    if (kind === 'cut') return await proxy.cut();
    if (kind === 'hang') return await proxy.add('timeout', { timeout: 0 });
    await server.kill();
    return server.restart;
  };
}

const ALL = { path: /^/ } as const;

export function adminApiVictim(proxy: InterceptingProxy): Victim {
  return async (kind) => {
    const behaviour: Behaviour =
      kind === 'cut' ? ({ cut }) => cut() : kind === 'error' ? answerWith(503) : loseAnswer();
    const end = proxy.intercept(ALL, behaviour);
    return async () => end();
  };
}
