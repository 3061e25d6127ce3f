import { spawn } from 'node:child_process';

interface ToolRun {
  command: string;
  args: readonly string[];
  cwd?: string;
  env?: NodeJS.ProcessEnv;
  timeoutMs: number;
  /** How long the run usually takes, for the progress line. */
  usualMs?: number;
  report: Report;
}

/** Time between two progress lines of a long run. */
const PROGRESS_INTERVAL_MS = 10_000;

/** How much of a tool's output an error message includes. */
const TAIL_CHARACTERS = 1_000;

/**
 * Runs a program to its end, with a progress line every 10 s; resolves with its output.
 * @throws Error with the end of its output if it is missing, fails or takes longer than `timeoutMs`.
 */
export async function runTool(run: ToolRun): Promise<string> {
  const startedAt = Date.now();
  const name = [run.command, ...run.args.slice(0, 2)].join(' ');
  return await new Promise<string>((resolve, reject) => {
    const child = spawn(run.command, run.args, {
      stdio: ['ignore', 'pipe', 'pipe'],
      ...(run.cwd === undefined ? {} : { cwd: run.cwd }),
      ...(run.env === undefined ? {} : { env: run.env }),
    });
    let output = '';
    const collect = (chunk: Buffer): void => {
      output += chunk.toString('utf8');
    };
    child.stdout.on('data', collect);
    child.stderr.on('data', collect);
    const alive = setInterval(() => {
      const lastLine = output.trimEnd().split('\n').at(-1)?.trim() ?? '';
      run.report(`  … ${elapsed(startedAt, run.usualMs)} ${lastLine.slice(0, 100)}`.trimEnd());
    }, PROGRESS_INTERVAL_MS);
    const timeout = setTimeout(() => child.kill('SIGKILL'), run.timeoutMs);
    const settle = (error: Error | undefined): void => {
      clearInterval(alive);
      clearTimeout(timeout);
      if (error) reject(error);
      else resolve(output);
    };
    child.once('error', (error) => settle(new Error(`${run.command} can't be run: ${error.message}`)));
    child.once('close', (code, signal) => {
      if (code === 0) return settle(undefined);
      const why = signal ? `was ended (${signal}) after ${Date.now() - startedAt} ms` : `exited with ${code}`;
      settle(new Error(`${name} ${why}: ${output.trim().slice(-TAIL_CHARACTERS)}`));
    });
  });
}

/** "20 s", "20 s of about 150 s" if the usual duration is known, or "160 s (usually about 150 s)" once it is over. */
function elapsed(startedAt: number, usualMs: number | undefined): string {
  const seconds = (ms: number): string => `${Math.round(ms / 1000)} s`;
  const elapsedMs = Date.now() - startedAt;
  if (usualMs === undefined) return seconds(elapsedMs);
  const usual = `about ${seconds(usualMs)}`;
  return elapsedMs <= usualMs ? `${seconds(elapsedMs)} of ${usual}` : `${seconds(elapsedMs)} (usually ${usual})`;
}

/** Reports progress of a long step to a person, one sentence per call. */
export type Report = (line: string) => void;

/** Writes to standard error, so that a command's own output stays clean. */
export const reportToStderr: Report = (line) => {
  process.stderr.write(`${line}\n`);
};
