import { z } from 'zod';

/** The ids of a storm's deliveries, so that sender and counter need no list of them. */
export function deliveryId(index: number): string {
  return `storm-${index}`;
}

/** What the sender prints. `endedAtMs`: when the last delivery was acknowledged (milliseconds since 1970). */
export const stormResult = z.object({
  acknowledged: z.int(),
  refused: z.int(),
  seconds: z.number(),
  endedAtMs: z.number(),
});
