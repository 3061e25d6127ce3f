import { execFile } from 'node:child_process';
import { rm, statfs, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { answerWith, loseAnswer } from '../helpers/system/faults.ts';
import type { Behaviour, InterceptingProxy } from '../helpers/system/intercepting-proxy.ts';
import type { OriginSite } from '../helpers/system/origin-site.ts';
import type { Programs } from '../helpers/system/programs.ts';
import { waitFor } from '../helpers/system/wait-for.ts';
import type { ToxicProxy } from '../helpers/toxiproxy.ts';
import type { FaultKind } from './choose.ts';

/** Ends a fault. */
export type Heal = () => Promise<unknown>;

/** Begins a fault of one part of the system. */
export type Victim = (kind: FaultKind) => Promise<Heal>;

/** @param clock a file that the program's clock follows (shifted-clock.js) */
export function programVictim(programs: Programs, name: string, clock: string): Victim {
  const group = (): number => programs.get(name).pid;
  // What exits at its start, as on a full disk, is started again by what supervises it.
  const start = () => waitFor(() => programs.restart(name), { describe: `started ${name}`, everyMs: 1_000 });
  return async (kind) => {
    if (kind === 'kill' || kind === 'end') {
      await programs[kind](name);
      return start;
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
  // Each may have ended meanwhile.
  const { stdout } = await run('pgrep', ['-g', String(group)]).catch(() => ({ stdout: '' }));
  const pids = stdout.split('\n').filter((pid) => pid !== '');
  await Promise.all(pids.map((pid) => run('prlimit', ['--pid', pid, `--fsize=${limit}:`]).catch(() => undefined)));
}

/** Fills the disk until there is no room for anything. Returns how to end that. */
export function diskVictim(folder: string): Victim {
  return async () => {
    const filler = join(folder, 'filler');
    await fill(folder, filler);
    return () => rm(filler, { force: true });
  };
}

/** Programs write meanwhile, so that the room that was counted may be gone. */
async function fill(folder: string, filler: string): Promise<void> {
  for (;;) {
    const { bavail, bsize } = await statfs(folder);
    if (bavail === 0) return;
    const isFull = await run('fallocate', ['-l', String(bavail * bsize), filler]).then(
      () => true,
      (error: unknown) => !String(error).includes('No space left on device') && Promise.reject(error),
    );
    if (isFull) return;
  }
}

/** Where no disk can be mounted: no program can write to its files. */
export function allDisksVictim(programs: readonly Victim[]): Victim {
  return async () => {
    const heals = await Promise.all(programs.map((begin) => begin('full-disk')));
    return async () => await Promise.all(heals.map((heal) => heal()));
  };
}

export function originVictim(origin: OriginSite): Victim {
  return async (kind) => origin.harm(kind === 'hang' ? 'hang' : 'error');
}

type Server = { kill(): Promise<void>; restart(): Promise<void> };

type Restorable = {
  /** The folder with the server's data. */
  data: string;
  /** A folder that doesn't exist. */
  copy: string;
};

export function serverVictim(server: Server, proxy: ToxicProxy, restorable?: Restorable): Victim {
  return async (kind) => {
    if (kind === 'restore' && restorable !== undefined) return await restoreLater(server, restorable);
    if (kind === 'cut') return await proxy.cut();
    if (kind === 'hang') return await proxy.add('timeout', { timeout: 0 });
    await server.kill();
    return server.restart;
  };
}

/** Workers hold runs in memory, so they are stopped while Temporal is restored. */
export function temporalVictim(server: Victim, programs: Programs): Victim {
  return async (kind) => {
    const heal = await server(kind);
    if (kind !== 'restore') return heal;
    return async () => {
      for (const name of WORKERS) await programs.kill(name);
      await heal();
      for (const name of WORKERS) await programs.restart(name);
    };
  };
}

export const WORKERS = ['worker', 'platform-worker'] as const;

/** At the end the server has the data of now, as after a crash, and nothing that was written since. */
async function restoreLater(server: Server, { data, copy }: Restorable): Promise<Heal> {
  await server.kill();
  await run('cp', ['-a', data, copy]);
  await server.restart();
  return async () => {
    await server.kill();
    await rm(data, { recursive: true });
    await run('mv', [copy, data]);
    await server.restart();
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
