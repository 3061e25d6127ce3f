import { CommanderError } from 'commander';
import { plainReason, plainText } from '../base/plain-reason.ts';
import { AdminApiError } from '../client/admin-api-error.ts';
import { ConfigurationError } from '../contract/configuration-error.ts';
import { HttpError } from '../web/http-error.ts';
import { adminApiFailure } from './admin-api-failure.ts';
import { Interrupted, UsageError } from './command-error.ts';
import { writeDocument } from './output.ts';
import { createProgram } from './program.ts';

const EXIT_DONE = 0;
const EXIT_FAILED = 1;
const EXIT_USAGE = 2;
const EXIT_INTERRUPTED = 130;

/** A value that the platform rejects: the option is wrong. */
function isBadRequest(error: unknown): boolean {
  return error instanceof HttpError && error.status === 400;
}

/** Runs one command line and reports errors on standard error; resolves with the exit code. */
export async function runCommandLine(argv: readonly string[]): Promise<number> {
  const program = await createProgram({ only: argv[0] });
  try {
    if (argv.length === 0) {
      program.outputHelp({ error: true });
      return EXIT_USAGE;
    }
    await program.parseAsync(argv, { from: 'user' });
    writeDocument();
    return EXIT_DONE;
  } catch (error) {
    return report(error instanceof AdminApiError ? adminApiFailure(error) : error, argv.includes('--json'));
  }
}

/** Commander has written its own errors to standard error already. */
function report(error: unknown, json: boolean): number {
  const code = exitCodeOf(error);
  // Whoever follows something without an end stops it with Ctrl-C.
  if (error instanceof Interrupted && error.message === '') return code;
  const problems = error instanceof ConfigurationError ? error.problems.map(plainText) : [messageOf(error)];
  if (json && code !== EXIT_DONE) writeDocument(problems.join('\n'));
  if (!(error instanceof CommanderError)) for (const each of problems) process.stderr.write(`galley: ${each}\n`);
  return code;
}

function exitCodeOf(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT_DONE : EXIT_USAGE;
  if (error instanceof Interrupted) return EXIT_INTERRUPTED;
  const isUsage = error instanceof UsageError || error instanceof ConfigurationError || isBadRequest(error);
  return isUsage ? EXIT_USAGE : EXIT_FAILED;
}

function messageOf(error: unknown): string {
  if (!(error instanceof CommanderError)) return plainReason(error);
  const isHelp = error.message.startsWith('(');
  return isHelp ? 'expected a command: --help lists them' : error.message.replace(/^error: /, '');
}
