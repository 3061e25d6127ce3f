import type { ActivityInterceptors } from '@temporalio/worker';
import { withoutValues } from './store/query-error.ts';

/**
 * What an activity fails with is kept in Temporal's history and shown in its UI: a failed query is told there without
 * its values.
 */
export function tellFailuresWithoutValues(): ActivityInterceptors {
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
