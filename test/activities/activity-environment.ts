import { ApplicationFailure } from '@temporalio/common';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';

/** Activities fail in most of these tests, and the SDK would log each failure. */
export function activityEnvironment(
  info: ConstructorParameters<typeof MockActivityEnvironment>[0] = {},
): MockActivityEnvironment {
  return new MockActivityEnvironment(info, { logger: new DefaultLogger('ERROR') });
}

/** The failure that an activity reports to Temporal. */
export async function failureOf(work: Promise<unknown>): Promise<ApplicationFailure> {
  const error: unknown = await work.then(
    (value) => new Error(`expected a failure, got ${JSON.stringify(value)}`),
    (reason: unknown) => reason,
  );
  if (error instanceof ApplicationFailure) return error;
  throw error;
}
