import type { DeploymentWrite } from './deployment-target.ts';
import { readSwitches, ValuesFileError } from './edit-values.ts';
import { planEdit } from './plan-edit.ts';
import type { Sidecar } from './sidecar.ts';

/** What a thread answers: a class of error doesn't leave it. */
type Answer<Result> = { result: Result } | { invalid: string };

export type PlanInput = { write: DeploymentWrite; text: string; current: Sidecar | null };

/** Does nothing: the thread's start doesn't count as work. */
export function begin(): void {}

export const plan = ({ write, text, current }: PlanInput) => answer(() => planEdit(write, text, current));
export const switches = (text: string) => answer(() => readSwitches(text));

function answer<Result>(work: () => Result): Answer<Result> {
  try {
    return { result: work() };
  } catch (error) {
    if (error instanceof ValuesFileError) return { invalid: error.message };
    throw error;
  }
}
