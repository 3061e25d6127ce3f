import { ActivityFailure, ApplicationFailure, TimeoutFailure } from '@temporalio/workflow';
import { z } from 'zod';

const details = z.object({ operators: z.array(z.string()) });

/** Who can be told that a site isn't configured, by the worker that was asked last (activities/not-configured.ts). */
export function operatorsIn(error: unknown): string[] {
  const failed = error instanceof ActivityFailure ? error.cause : error;
  const cause = failed instanceof TimeoutFailure ? failed.cause : failed;
  if (!(cause instanceof ApplicationFailure) || cause.type !== 'NotConfigured') return [];
  const parsed = details.safeParse(cause.details?.[0]);
  return parsed.success ? parsed.data.operators : [];
}
