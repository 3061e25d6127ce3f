import { execa } from 'execa';
import { median } from '../statistics.ts';

export interface MemoryWatch {
  /** Stops sampling and returns each program's samples, oldest first. */
  stop(): Promise<Record<string, number[]>>;
}

const EVERY_MS = 500;

/** Samples the resident memory in megabytes of the programs that these guards run (embedded/guarded-child.ts). */
export function watchMemory(guards: Readonly<Record<string, number>>): MemoryWatch {
  const samples: Record<string, number[]> = Object.fromEntries(Object.keys(guards).map((name) => [name, []]));
  let last = Promise.resolve();
  const sample = async (): Promise<void> => {
    const { stdout } = await execa`ps -A -o ppid=,rss=`;
    const rows = stdout.split('\n').map((line) => line.trim().split(/\s+/).map(Number));
    for (const [name, guard] of Object.entries(guards)) {
      // The guard's other child is a shell, which is small.
      const sizes = rows.filter(([parent]) => parent === guard).map(([, kilobytes = 0]) => kilobytes / 1_024);
      if (sizes.length > 0) samples[name]?.push(Math.max(...sizes));
    }
  };
  const timer = setInterval(() => {
    last = sample();
  }, EVERY_MS);
  return {
    stop: async () => {
      clearInterval(timer);
      await last;
      return samples;
    },
  };
}

/** The median of each quarter of the samples. */
export function quarters(samples: readonly number[]): number[] {
  const from = (quarter: number): number => Math.floor((quarter * samples.length) / 4);
  return [0, 1, 2, 3].map((quarter) =>
    median(samples.slice(from(quarter), Math.max(from(quarter) + 1, from(quarter + 1)))),
  );
}
