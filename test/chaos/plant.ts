import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { PLANTED, type PlantedFault } from './planted.ts';

/** Plants each fault in a copy of the product and plays rounds there, until one has a violation. */

type PlantOptions = {
  /** Names of faults; empty: all. */
  names: readonly string[];
  seed: number;
  rounds: number;
  say: (line: string) => void;
  signal: AbortSignal;
};

/** What the copy doesn't need, or finds in the folders above it. */
const NOT_COPIED = new Set(['.git', '.cache', 'node_modules', 'docs']);

/** @returns whether all were played and found */
export async function plantFaults({ names, seed, rounds, say, signal }: PlantOptions): Promise<boolean> {
  const faults = PLANTED.filter(({ name }) => names.length === 0 || names.includes(name));
  await mkdir('.cache', { recursive: true });
  const copy = await mkdtemp(resolve('.cache', 'planted-'));
  const outcomes = new Map<string, Outcome>();
  try {
    await copyProduct(process.cwd(), copy);
    for (const fault of faults) {
      if (signal.aborted) break;
      say(`planted ${fault.name}: ${fault.what}`);
      const heal = await plant(copy, fault);
      const played = await play(copy, { seed, rounds, say, signal });
      await heal();
      const outcome = outcomeOf(played);
      outcomes.set(fault.name, outcome);
      say(`planted ${fault.name}: ${outcome}`);
    }
  } finally {
    await rm(copy, { recursive: true, force: true, maxRetries: 3 });
  }
  say(
    describeOutcomes(
      faults.map(({ name }) => name),
      outcomes,
    ),
  );
  return faults.every(({ name }) => outcomes.get(name) === 'found');
}

export type Outcome = 'found' | 'not found' | 'not played';

/** What the rounds of a fault print. A fault that no round judged, or whose rounds were stopped, wasn't played. */
export function outcomeOf({ lines, isStopped }: Played): Outcome {
  const judged = lines.flatMap((line) => /^seed \d+: (\d+) violations/.exec(line)?.[1] ?? []);
  if (judged.some((count) => count !== '0')) return 'found';
  return isStopped || judged.length === 0 ? 'not played' : 'not found';
}

/** @param outcomes of the faults until the end of the run; the others weren't played */
export function describeOutcomes(names: readonly string[], outcomes: ReadonlyMap<string, Outcome>): string {
  const having = (wanted: Outcome): string[] => names.filter((name) => (outcomes.get(name) ?? 'not played') === wanted);
  const listed = (wanted: Outcome): string => `${wanted}: ${having(wanted).join(', ') || 'none'}`;
  const playedCount = names.length - having('not played').length;
  const head = `${having('found').length} of ${playedCount} played faults found`;
  return `${head}; ${listed('not found')}; ${listed('not played')}`;
}

type Played = { lines: readonly string[]; isStopped: boolean };

async function copyProduct(from: string, to: string): Promise<void> {
  for (const name of await readdir(from)) {
    // With its times, so that the build counts as up to date.
    if (!NOT_COPIED.has(name))
      await cp(join(from, name), join(to, name), { recursive: true, preserveTimestamps: true });
  }
}

/** Changes the source; the round builds it. Returns how to undo it. */
async function plant(root: string, { file, find, replace }: PlantedFault): Promise<() => Promise<void>> {
  const path = join(root, file);
  const text = await readFile(path, 'utf8');
  if (text.split(find).length !== 2) throw new Error(`expected once in ${file}: ${find}`);
  // A function, because `$` has a meaning in a text.
  await writeFile(
    path,
    text.replace(find, () => replace),
  );
  return () => writeFile(path, text);
}

async function play(
  cwd: string,
  { seed, rounds, say, signal }: Pick<PlantOptions, 'seed' | 'rounds' | 'say' | 'signal'>,
): Promise<Played> {
  const args = ['--import', './scripts/typescript.js', 'test/chaos/main.ts', '--until-violation', '--trace'];
  const child = spawn(process.execPath, [...args, '--seed', String(seed), '--rounds', String(rounds)], {
    cwd,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const end = (): void => void child.kill('SIGTERM');
  signal.addEventListener('abort', end);
  const lines: string[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => {
    lines.push(line);
    if (/^(seed \d+: | {2}[A-Z]+: )/.test(line)) say(`  ${line}`);
  });
  await once(child, 'close');
  signal.removeEventListener('abort', end);
  return { lines, isStopped: signal.aborted };
}
