import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Runs a galley command and returns its output. Throws with its error output if it fails. */
export async function runToEnd(
  galley: string,
  args: readonly string[],
  variables: Readonly<Record<string, string>>,
): Promise<string> {
  const env = { PATH: process.env.PATH, HOME: process.env.HOME, LOG_LEVEL: 'warn', ...variables };
  const { stdout } = await run(process.execPath, [galley, ...args], { env, timeout: 180_000 });
  return stdout;
}
