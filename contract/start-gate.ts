import { z } from 'zod';

/** What sites, the gate of starts and the api exchange. Times of the gate's clock, in milliseconds since 1970. */

/** A site waits for a start. Repeated, it replaces the site's earlier request. */
export const startRequest = z.object({
  site: z.string(),
  /** The oldest publish that waits; for a person's export, its request. */
  oldestAtMs: z.number(),
  /** A person's export goes before those of publishes. */
  byPerson: z.boolean(),
  /** The limit of galley.yaml; null: none, a 429 has taught that there is one. */
  startsPerHour: z.int().nullable(),
});
export type StartRequest = z.infer<typeof startRequest>;

/** What became of a start. `withdrawn`: the site needs none. `lost`: it may have been counted, and the site starts again. */
export const startOutcome = z.object({
  site: z.string(),
  outcome: z.enum(['started', 'limited', 'lost', 'withdrawn']),
});
export type StartOutcome = z.infer<typeof startOutcome>;

export type StartMessage = { signal: 'requested'; payload: StartRequest } | { signal: 'ended'; payload: StartOutcome };

/** A site's place among those that wait, from 1. `aboutAt` (RFC 3339): when it probably starts; null if unknown. */
export const startPlace = z.object({ number: z.int(), of: z.int(), aboutAt: z.string().nullable() });
export type StartPlace = z.infer<typeof startPlace>;

/** The result of the gate's query: the place of each site that waits. */
export const startQueue = z.record(z.string(), startPlace);
