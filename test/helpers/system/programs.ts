import { createInterface } from 'node:readline';
import { type GuardedChild, spawnGuarded } from '../../../embedded/guarded-child.ts';
import { shellEnvironment } from '../shell-environment.ts';

export interface ProgramSetup {
  /** The test's name for the program. */
  name: string;
  /** The arguments of `galley`. */
  args: readonly string[];
  variables: Readonly<Record<string, string>>;
}

export interface Program {
  name: string;
  /** The URL in its line `ready …`, or an empty text. */
  url: string;
  pid: number;
  running(): boolean;
}

export interface Programs {
  start(setup: ProgramSetup): Promise<Program>;
  /** Kills it, like a crash. */
  kill(name: string): Promise<void>;
  /** Stops it gracefully. */
  end(name: string): Promise<void>;
  /** Stops it gracefully if it is running, and starts it again with these additional variables. */
  restart(name: string, variables?: Readonly<Record<string, string>>): Promise<Program>;
  /** Starts another process of the same program with a separate state folder, named `{name}-2`, and more arguments. */
  double(name: string, more?: readonly string[]): Promise<Program>;
  get(name: string): Program;
  names(): string[];
  /** Its output lines. */
  lines(name: string): readonly string[];
  /** The last output lines of each program, for the message of a failed test. */
  lastWords(): string;
  /** Stops all programs, newest first. */
  stop(): Promise<void>;
}

type Running = { setup: ProgramSetup; child: GuardedChild; program: Program; lines: string[] };

const READY_TIMEOUT_MS = 180_000;
/** More lines than any test makes a program print. */
const LINES_KEPT = 100_000;
const LINES_SHOWN = 25;

/**
 * Runs galley's programs in child processes, which end with this process.
 * @param variables of all of them
 * @param upgraded what a restart starts
 */
export function createPrograms(
  galley: string,
  variables: Readonly<Record<string, string>> = {},
  upgraded = galley,
): Programs {
  const all = new Map<string, Running>();

  const start = async (setup: ProgramSetup, lines: string[] = [], main = galley): Promise<Program> => {
    const child = spawnGuarded(
      process.execPath,
      [main, ...setup.args],
      shellEnvironment({ LOG_LEVEL: 'info', ...variables, ...setup.variables }),
    );
    let ended = false;
    void child.exited.then(() => {
      ended = true;
      lines.push('(exited)');
    });
    const program = { name: setup.name, url: '', pid: child.process.pid ?? 0, running: () => !ended };
    all.set(setup.name, { setup, child, program, lines });
    program.url = await untilReady(setup.name, child, lines);
    return program;
  };
  const find = (name: string): Running => {
    const running = all.get(name);
    if (running === undefined) throw new Error(`No program ${name} was started`);
    return running;
  };

  return {
    start,
    kill: async (name) => await find(name).child.kill(),
    end: async (name) => await find(name).child.stop(),
    restart: async (name, changed = {}) => {
      const { setup, child, lines } = find(name);
      await child.stop();
      lines.push('(restarted)');
      return await start({ ...setup, variables: { ...setup.variables, ...changed } }, lines, upgraded);
    },
    double: async (name, more = []) => {
      const { args, variables: own } = find(name).setup;
      const another = `${name}-2`;
      const GALLEY_HOME = `${own.GALLEY_HOME ?? ''}-2`;
      return await start({ name: another, args: [...args, ...more], variables: { ...own, GALLEY_HOME } });
    },
    get: (name) => find(name).program,
    names: () => [...all.keys()],
    lines: (name) => find(name).lines,
    lastWords: () =>
      [...all].map(([name, { lines }]) => `--- ${name}\n${lines.slice(-LINES_SHOWN).join('\n')}`).join('\n'),
    stop: async () => {
      for (const { child } of [...all.values()].reverse()) await child.stop();
    },
  };
}

/** Resolves with the URL in the line `ready …`. */
async function untilReady(name: string, { process: child, exited }: GuardedChild, lines: string[]): Promise<string> {
  return await new Promise((resolve, reject) => {
    const failed = (why: string): void => reject(new Error(`${name} ${why}:\n${lines.slice(-LINES_SHOWN).join('\n')}`));
    const timer = setTimeout(() => failed('did not print its line `ready`'), READY_TIMEOUT_MS);
    const read = (line: string): void => {
      lines.push(line);
      if (lines.length > LINES_KEPT) lines.shift();
      if (!line.startsWith('ready')) return;
      clearTimeout(timer);
      resolve(/https?:\/\/\S+/.exec(line)?.[0] ?? '');
    };
    for (const stream of [child.stdout, child.stderr]) {
      if (stream) createInterface({ input: stream }).on('line', read);
    }
    void exited.then(() => {
      clearTimeout(timer);
      failed('exited during startup');
    });
  });
}
