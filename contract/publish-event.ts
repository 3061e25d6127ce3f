import { z } from 'zod';

/** A publish event read from a verified delivery. Prompts and mails use these fields as data. */
export const publishEvent = z.object({
  source: z.string(),
  topic: z.string(),
  action: z.enum(['publish', 'unpublish', 'other']),
  id: z.string(),
  title: z.string(),
  url: z.string(),
  author: z.string(),
  /** When the event happened, otherwise when it was received (RFC 3339). */
  at: z.string(),
  /** A push that only contains an agent's own work: it is exported, but prompts no agent. */
  agentsOwn: z.boolean().optional(),
});
export type PublishEvent = z.infer<typeof publishEvent>;

/** A delivery by reference: enough to deduplicate and to list it. */
const deliveryRef = z.object({
  id: z.string(),
  source: z.string(),
  receivedAt: z.string(),
  /** How long a second delivery with this id counts as a resend, in milliseconds. */
  dedupeMs: z.int().min(0),
  /**
   * The vendor sends no id, so `id` is a hash of the body. The same body may be a second publish: it only counts as a
   * resend while the first delivery waits. For a rule, which must not prompt twice, `dedupeMs` counts too: it isn't 0 if
   * the first delivery got a 503.
   */
  byBody: z.boolean().optional(),
  /** The `traceparent` of the request's span, if traces are on (trace.ts). */
  traceparent: z.string().optional(),
});
export type DeliveryRef = z.infer<typeof deliveryRef>;

/** The most deliveries in one signal. */
export const MAX_DELIVERIES_PER_SIGNAL = 1000;

/**
 * The payload of the signal `published`: its deliveries, oldest first, and the newest event. Agent rules get the event
 * of each delivery (`events`, parallel to `deliveries`), because a prompt may list them all.
 */
export const publishedSignal = z.object({
  deliveries: z.array(deliveryRef).min(1).max(MAX_DELIVERIES_PER_SIGNAL),
  newest: publishEvent,
  events: z.array(publishEvent).max(MAX_DELIVERIES_PER_SIGNAL).optional(),
});
export type PublishedSignal = z.infer<typeof publishedSignal>;
