import { extname } from 'node:path';
import { createBoundedThreads, WorkExceeded } from '../../base/bounded-threads.ts';
import { sha256Hex } from '../../base/sha256.ts';
import { readSwitches, ValuesFileError } from './edit-values.ts';
import { type PlannedEdit, planEdit } from './plan-edit.ts';
import type * as tasks from './values-tasks.ts';

/** Values files have a few kilobytes, which take milliseconds. The YAML library takes seconds for 1 MiB. */
const SMALL = 8 * 1024;

const threads = createBoundedThreads<typeof tasks>({
  module: new URL(`./values-tasks${extname(import.meta.url)}`, import.meta.url).href,
  limitMs: 30_000,
  maxWaiting: 1_000,
  memoryMiB: 768,
});

/** `planEdit` that holds up nothing else in the process, however large the file is and whatever it nests or repeats. */
export async function planEditBounded(...[write, text, current]: Parameters<typeof planEdit>): Promise<PlannedEdit> {
  if (text.length <= SMALL) return planEdit(write, text, current);
  const input = { write, text, current };
  return resultOf(await inTime(threads.run('plan', input, sha256Hex(JSON.stringify(input)))));
}

/** `readSwitches` in the same way. */
export async function readSwitchesBounded(text: string): Promise<ReturnType<typeof readSwitches>> {
  return text.length <= SMALL
    ? readSwitches(text)
    : resultOf(await inTime(threads.run('switches', text, sha256Hex(text))));
}

async function inTime<Result>(work: Promise<Result>): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof WorkExceeded)) throw error;
    throw new Error('reading the values file takes more than 30 s or 768 MiB of memory: make it smaller', {
      cause: error,
    });
  }
}

function resultOf<Result>(answer: { result: Result } | { invalid: string }): Result {
  if ('invalid' in answer) throw new ValuesFileError(answer.invalid);
  return answer.result;
}
