import type { ActivityInterceptors } from '@temporalio/worker';
import { withoutValues } from './store/query-error.ts';

/**
 * An activity's error is kept in Temporal's history and shown in its UI, so failed queries are reported without their
 * values.
 */
export function redactQueryValues(): ActivityInterceptors {
  return {
    inbound: {
      async execute(input, next) {
        try {
          return await next(input);
        } catch (error) {
          throw withoutValues(error);
        }
      },
    },
  };
}
