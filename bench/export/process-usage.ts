import { readFile, writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

export interface Usage {
  /** Peak resident memory in megabytes. */
  peakMb: number;
  /** User and system time on all cores since the process started. */
  cpuSeconds: number;
}

/** Such as `312 MB, 1.84 s of CPU time`. */
export function usageText({ peakMb, cpuSeconds }: Usage): string {
  return `${peakMb.toFixed(0)} MB, ${cpuSeconds.toFixed(2)} s of CPU time`;
}

/** `/proc/PID/stat` counts in USER_HZ, which is always 100 on Linux. */
const TICKS_A_SECOND = 100;

/** A process's usage; undefined if it has ended. */
export async function usageOf(pid: number): Promise<Usage | undefined> {
  try {
    const status = await readFile(`/proc/${pid}/status`, 'utf8');
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
    const peak = /^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1];
    // The name in parentheses may contain spaces. User and system time are the 12th and 13th field after it.
    const [user, system] = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .slice(11, 13);
    if (peak === undefined) return undefined;
    return { peakMb: Number(peak) / 1_024, cpuSeconds: (Number(user) + Number(system)) / TICKS_A_SECOND };
  } catch {
    return undefined;
  }
}

/** The ids of a process and all its running descendants. */
export async function withDescendants(pid: number): Promise<number[]> {
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '');
  const pids = children.trim().split(' ').filter(Boolean).map(Number);
  return [pid, ...(await Promise.all(pids.map(withDescendants))).flat()];
}

/** A process's current resident memory in megabytes. */
export async function residentMb(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) / 1_024;
}

/** Resets the process's peak to its current resident memory. */
export async function resetPeak(pid: number): Promise<void> {
  await writeFile(`/proc/${pid}/clear_refs`, '5');
}

/** The program that a guard (embedded/guarded-child.ts) runs. Its other child is a shell, which is smaller. */
export async function guardedProgram(guardPid: number): Promise<number> {
  const children = await readFile(`/proc/${guardPid}/task/${guardPid}/children`, 'utf8');
  let largest = { pid: guardPid, peakMb: 0 };
  for (const pid of children.trim().split(' ').map(Number)) {
    const usage = await usageOf(pid);
    if (usage && usage.peakMb > largest.peakMb) largest = { pid, peakMb: usage.peakMb };
  }
  return largest.pid;
}

const SAMPLE_MS = 50;

/** Samples a process until it ends. Resolves with the last sample. */
export async function watchToEnd(pid: number | undefined): Promise<Usage> {
  let last: Usage = { peakMb: 0, cpuSeconds: 0 };
  for (;;) {
    const usage = pid === undefined ? undefined : await usageOf(pid);
    if (usage === undefined) return last;
    last = usage;
    await sleep(SAMPLE_MS);
  }
}
