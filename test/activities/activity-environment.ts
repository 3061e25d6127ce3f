import { ApplicationFailure } from '@temporalio/common';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';

/** Failing is what most tests of activities are about; the SDK would log each of them. */
export function activityEnvironment(
  info: ConstructorParameters<typeof MockActivityEnvironment>[0] = {},
): MockActivityEnvironment {
  return new MockActivityEnvironment(info, { logger: new DefaultLogger('ERROR') });
}

/** What an activity failed with, as Temporal hears of it. */
export async function failureOf(work: Promise<unknown>): Promise<ApplicationFailure> {
  const error: unknown = await work.then(
    (value) => new Error(`expected a failure, got ${JSON.stringify(value)}`),
    (reason: unknown) => reason,
  );
  if (error instanceof ApplicationFailure) return error;
  throw error;
}
