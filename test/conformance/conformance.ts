import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { cacheFolder } from '../../embedded/cache-folder.ts';

const HERE = import.meta.dirname;
const PINNED = join(HERE, 'suites');
const INSTALLED = join(cacheFolder(), 'suites');

/** One case of a suite. Its name is unique in the suite. */
export type Outcome = { name: string; passed: boolean };

type Conformance = {
  /** The file in `results/`, by whose name the page is ordered. */
  file: string;
  suite: string;
  /** As in a lock file of `suites/`. */
  package: string;
  /** What a passed case shows. */
  shows: string;
  outcomes: readonly Outcome[];
};

/** `because` says in a sentence what the failure means. */
const failures = z.array(z.object({ because: z.string(), cases: z.array(z.string()) }));
type Failures = z.infer<typeof failures>;

const UNEXPLAINED = 'Not explained yet.';

/**
 * Expects the counts of `results/`, and that exactly the cases fail which it lists. `WRITE_CONFORMANCE=yes` writes what was
 * found; a sentence for a new failure is written by hand.
 */
export function expectConformance({ file, outcomes, ...about }: Conformance): void {
  const names = outcomes.map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
  const failed = outcomes.filter(({ passed }) => !passed).map(({ name }) => name);
  const known = resultOf(file);
  const found = {
    ...about,
    version: versionOf(about.package),
    cases: names.length,
    failures: explained(failed, failures.parse(known.failures)),
  };
  if (process.env.WRITE_CONFORMANCE === 'yes') writeFileSync(resultPath(file), `${JSON.stringify(found, null, 2)}\n`);
  else expect(found).toEqual(known);
  expect(found.failures.filter(({ because }) => because === UNEXPLAINED)).toEqual([]);
}

const resultPath = (file: string): string => join(HERE, 'results', `${file}.json`);

/** What `results/` has of a suite. */
export function resultOf(file: string): { failures: unknown } {
  const path = resultPath(file);
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : { failures: [] };
}

/** The failed cases with the sentences that are known for them. */
function explained(failed: readonly string[], known: Failures): Failures {
  const kept = known.map(({ because, cases }) => ({ because, cases: cases.filter((name) => failed.includes(name)) }));
  const listed = kept.flatMap(({ cases }) => cases);
  const others = failed.filter((name) => !listed.includes(name));
  return [...kept, { because: UNEXPLAINED, cases: others }].filter(({ cases }) => cases.length > 0);
}

/** The version of a package in the lock files, which is the one that is installed. */
export function versionOf(name: string): string {
  const { dependencies } = z
    .object({ dependencies: z.record(z.string(), z.string()) })
    .parse(JSON.parse(readFileSync(join(PINNED, 'package.json'), 'utf8')));
  const others = ['go.mod', 'requirements.txt'].map((file) => readFileSync(join(PINNED, file), 'utf8')).join('\n');
  const inOthers = others
    .split('\n')
    .map((line) => line.trim().split(/ |==/))
    .find(([each]) => each === name);
  const version = dependencies[name] ?? inOthers?.[1];
  if (version === undefined) throw new Error(`${name} is in no lock file of ${PINNED}`);
  return version;
}

/** A file or folder of the installed suites. @throws Error if they aren't installed as the lock files say */
export function suitePath(...parts: string[]): string {
  if (!isCurrent()) throw new Error('the outside suites are missing or outdated. Run: npm run setup:system');
  return join(INSTALLED, ...parts);
}

let current: boolean | undefined;

function isCurrent(): boolean {
  current ??= spawnSync('diff', ['-rq', PINNED, join(INSTALLED, 'source')]).status === 0;
  return current;
}

export function readSuite(...parts: string[]): string {
  return readFileSync(suitePath(...parts), 'utf8');
}
