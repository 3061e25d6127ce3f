import { z } from 'zod';

/** The optional last argument of the updates that operators send to a site's workflow or an agent rule's. */
export const actionOptions = z.object({
  /** Who does it, for the site's history. */
  actor: z.string().min(1).max(200).optional(),
  /** The delivery that `exportNow` runs again. */
  deliveryId: z.string().min(1).max(1_000).optional(),
  /** To `lock` and `rollback`: why, for people. */
  reason: z.string().min(1).max(500).optional(),
  /** To `rollback`: keeps the version until the site is unlocked, instead of until the next publish. */
  lock: z.boolean().optional(),
  /** To `approve` and `reject`: the name of the one deployment that is meant. */
  deployment: z.string().min(1).max(1_000).optional(),
});
export type ActionOptions = z.infer<typeof actionOptions>;

/** The actor of updates that name none, such as those of Temporal's own tools. */
export const UNKNOWN_ACTOR = 'unknown';
