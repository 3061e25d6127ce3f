import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { shellEnvironment } from './shell-environment.ts';
import { builtGalley } from './system/built-product.ts';

/** What a command that ended said. */
export interface Finished {
  code: number | null;
  stdout: string;
  stderr: string;
}

export interface RunningGalley {
  process: ChildProcess;
  /** The line that began with `ready`. */
  ready: string;
  output(): string;
  /** Sends the signal and waits for the end. */
  stop(signal?: NodeJS.Signals): Promise<Finished>;
}

type Variables = Readonly<Record<string, string>>;

type Form = 'built' | 'source';

/** The build is looked after once a test file: it reads the times of all sources. */
let built: Promise<string> | undefined;

/**
 * As operators have it. Its source is what a test passes to see that this runs as well: it takes twice as long to start,
 * since each of its files is compiled first.
 */
async function programOf(form: Form): Promise<string[]> {
  const root = process.cwd();
  if (form === 'source') return ['--import', `${root}/scripts/typescript.js`, `${root}/cli/main.ts`];
  built ??= builtGalley();
  return [await built];
}

async function spawnGalley(
  args: readonly string[],
  variables: Variables,
  cwd: string | undefined,
  form: Form = 'built',
): Promise<ChildProcess> {
  return spawn(process.execPath, [...(await programOf(form)), ...args], {
    env: shellEnvironment({ LOG_LEVEL: 'warn', ...variables }),
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(cwd === undefined ? {} : { cwd }),
  });
}

function collect(child: ChildProcess): { finished: Promise<Finished>; output: () => string } {
  let stdout = '';
  let stderr = '';
  child.stdout?.on('data', (chunk: Buffer) => {
    stdout += chunk.toString();
  });
  child.stderr?.on('data', (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  const finished = new Promise<Finished>((resolve) => {
    child.once('close', (code) => resolve({ code, stdout, stderr }));
  });
  return { finished, output: () => stdout + stderr };
}

/** Runs a galley command to its end, as a process of its own. */
export async function galley(
  args: readonly string[],
  variables: Variables = {},
  cwd?: string,
  form?: Form,
): Promise<Finished> {
  return await collect(await spawnGalley(args, variables, cwd, form)).finished;
}

/**
 * Runs a short command in this process, which takes a tenth of the time of `galley`. It sees only these variables and
 * this folder. For commands that end by themselves; one at a time.
 */
export async function galleyHere(
  args: readonly string[],
  variables: Variables = {},
  cwd: string = process.cwd(),
): Promise<Finished> {
  const { runCommandLine } = await import('../../cli/run-command-line.ts');
  const before = { env: process.env, cwd: process.cwd() };
  const output = { stdout: '', stderr: '' };
  const restore = (['stdout', 'stderr'] as const).map((name) => {
    const stream = process[name];
    const write = stream.write;
    stream.write = (chunk: string | Uint8Array) => {
      output[name] += chunk.toString();
      return true;
    };
    return () => {
      stream.write = write;
    };
  });
  process.env = shellEnvironment({ LOG_LEVEL: 'warn', ...variables });
  process.chdir(cwd);
  try {
    return { code: await runCommandLine(args), ...output };
  } finally {
    process.chdir(before.cwd);
    process.env = before.env;
    for (const each of restore) each();
  }
}

/** Starts a galley service and waits for its line `ready …`; rejects with what it said where it ends before that. */
export async function startGalley(args: readonly string[], variables: Variables, cwd?: string): Promise<RunningGalley> {
  return await untilReady(await spawnGalley(args, variables, cwd), args);
}

/** A service that isn't ready yet, for what happens until then. */
export async function spawnService(
  args: readonly string[],
  variables: Variables,
  cwd?: string,
): Promise<{ process: ChildProcess; ready: Promise<RunningGalley>; output: () => string }> {
  const child = await spawnGalley(args, variables, cwd);
  return { process: child, ready: untilReady(child, args), output: collect(child).output };
}

async function untilReady(child: ChildProcess, args: readonly string[]): Promise<RunningGalley> {
  const { finished, output } = collect(child);
  const ready = await new Promise<string>((resolve, reject) => {
    if (child.stdout)
      createInterface({ input: child.stdout }).on('line', (line) => {
        if (line.startsWith('ready')) resolve(line);
      });
    void finished.then(({ code }) => reject(new Error(`galley ${args.join(' ')} ended with ${code}: ${output()}`)));
  });
  return {
    process: child,
    ready,
    output,
    stop: async (signal = 'SIGTERM') => {
      child.kill(signal);
      return await finished;
    },
  };
}
