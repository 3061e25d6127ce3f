import { patched } from '@temporalio/workflow';
import { spreadMs } from '../../contract/duration.ts';
import type { Failure } from './failures.ts';

/**
 * How long a service is left alone that asked for rest, in milliseconds; 0 if it didn't ask. Spread, because an
 * organization's limit sends all of its sites away until the same moment.
 * @param refusals how often in a row this was refused, this time included
 */
export function restMs({ retryAfterMs }: Failure, refusals: number): number {
  if (retryAfterMs === null) return 0;
  // Earlier releases came back at the very moment. In a workflow `Math.random` gives the same on replay.
  return spreadMs(retryAfterMs, refusals, patched('spread-rest-2026-11') ? Math.random() : 0);
}
