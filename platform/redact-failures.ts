import { changeFailures } from '../contract/worker-options.ts';
import { withoutValues } from './store/query-error.ts';

/**
 * An activity's error is kept in Temporal's history and shown in its UI, so failed queries are reported without their
 * values.
 */
export const redactQueryValues = () => changeFailures(withoutValues);
