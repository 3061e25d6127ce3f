import { hostname } from 'node:os';
import { ApplicationFailure } from '@temporalio/common';

/**
 * The failure of an activity whose worker doesn't know the site or rule. Retryable, because another worker may know it:
 * a worker with another galley.yaml must not end anything.
 * @param what the site or the rule, for people
 * @param operators who gets a mail while no worker knows it
 */
export function notConfigured(what: string, operators: readonly string[] = []): ApplicationFailure {
  return ApplicationFailure.create({
    type: 'NotConfigured',
    message: `${what} is not configured on the worker that was asked (${hostname()}): check its galley.yaml`,
    details: [{ operators }],
  });
}
