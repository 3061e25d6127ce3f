import { z } from 'zod';

/** The id of a storm's delivery. Sender and counter derive it from the index, so they share no list. */
export function deliveryId(index: number): string {
  return `storm-${index}`;
}

/** The sender's output. `endedAtMs`: when the last delivery was acknowledged (milliseconds since 1970). */
export const stormResult = z.object({
  acknowledged: z.int(),
  refused: z.int(),
  seconds: z.number(),
  endedAtMs: z.number(),
});
