import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { shellEnvironment } from './shell-environment.ts';
import { builtGalley } from './system/built-product.ts';

/** The exit code and output of a command. */
export interface Finished {
  code: number | null;
  stdout: string;
  stderr: string;
}

export interface RunningGalley {
  process: ChildProcess;
  /** The line that starts with `ready`. */
  ready: string;
  output(): string;
  /** Sends the signal and waits for the exit. */
  stop(signal?: NodeJS.Signals): Promise<Finished>;
}

type Variables = Readonly<Record<string, string>>;

type Form = 'built' | 'source' | { program: string };

/** Cached per test file, because builtGalley() reads all sources. */
let built: Promise<string> | undefined;

/**
 * `built` is what operators run. `source` takes twice as long to start, because each file is compiled first. Only tests
 * of that way to start use it. `program` is an installed one.
 */
async function programOf(form: Form): Promise<string[]> {
  const root = process.cwd();
  if (form === 'source') return ['--import', `${root}/scripts/typescript.js`, `${root}/cli/main.ts`];
  if (typeof form === 'object') return [form.program];
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

/** What a started command prints, and how it ends. */
export function collect(child: ChildProcess): { finished: Promise<Finished>; output: () => string } {
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

/** Runs a galley command in a separate process and waits for its exit. */
export async function galley(
  args: readonly string[],
  variables: Variables = {},
  cwd?: string,
  form?: Form,
): Promise<Finished> {
  return await collect(await spawnGalley(args, variables, cwd, form)).finished;
}

/**
 * Runs a short command in this process, in a tenth of the time of `galley`. It sees only these variables and this folder.
 * Only for commands that end by themselves, and only one at a time.
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
  // Jest's console doesn't write to the process's streams.
  const { log } = console;
  console.log = (line: string) => {
    output.stdout += `${line}\n`;
  };
  process.env = shellEnvironment({ LOG_LEVEL: 'warn', ...variables });
  process.chdir(cwd);
  try {
    return { code: await runCommandLine(args), ...output };
  } finally {
    process.chdir(before.cwd);
    process.env = before.env;
    console.log = log;
    for (const each of restore) each();
  }
}

/** Starts a galley service and waits for its line `ready …`. Rejects with its output if it exits before that. */
export async function startGalley(
  args: readonly string[],
  variables: Variables,
  cwd?: string,
  form?: Form,
): Promise<RunningGalley> {
  return await untilReady(await spawnGalley(args, variables, cwd, form), args);
}

/** Starts a galley service without waiting until it is ready. */
export async function spawnService(
  args: readonly string[],
  variables: Variables,
  cwd?: string,
): Promise<{ process: ChildProcess; ready: Promise<RunningGalley>; output: () => string }> {
  const child = await spawnGalley(args, variables, cwd);
  return { process: child, ready: untilReady(child, args), output: collect(child).output };
}

/** Resolves once a started service is ready. Rejects with its output if it exits before that. */
export async function untilReady(child: ChildProcess, args: readonly string[]): Promise<RunningGalley> {
  const { finished, output } = collect(child);
  const ready = await new Promise<string>((resolve, reject) => {
    if (child.stdout)
      createInterface({ input: child.stdout }).on('line', (line) => {
        if (line.startsWith('ready')) resolve(line);
      });
    void finished.then(({ code }) => reject(new Error(`galley ${args.join(' ')} exited with ${code}: ${output()}`)));
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
