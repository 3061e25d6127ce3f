import { hostname } from 'node:os';
import { ApplicationFailure } from '@temporalio/common';

/**
 * The failure of a call whose site or rule the worker that serves it doesn't know. It is retried, because another worker
 * may know it: a worker with an older galley.yaml, or with another one, ends nothing.
 * @param what the site or the rule, as people know it
 * @param operators who can be told while no worker knows it
 */
export function notConfigured(what: string, operators: readonly string[] = []): ApplicationFailure {
  return ApplicationFailure.create({
    type: 'NotConfigured',
    message: `${what} is not configured on the worker that was asked (${hostname()}): check its galley.yaml`,
    details: [{ operators }],
  });
}
