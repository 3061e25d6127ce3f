import { z } from 'zod';

/** The optional last argument of the updates that operators send to a site's workflow or an agent rule's. */
export const actionOptions = z.object({
  /** Who does it, for the site's history. */
  actor: z.string().min(1).max(200).optional(),
  /** The delivery that `exportNow` runs again. */
  deliveryId: z.string().min(1).max(1_000).optional(),
});
export type ActionOptions = z.infer<typeof actionOptions>;

/** The actor of updates that name none, such as those of Temporal's own tools. */
export const UNKNOWN_ACTOR = 'unknown';
