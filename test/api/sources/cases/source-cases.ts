import type { PublishEvent } from '../../../../contract/publish-event.ts';
import type { WebhookSourceName } from '../../../../contract/webhook-sources.ts';

type Headers = Record<string, string>;

/** What is read from a delivery that publishes. */
type Expected = { event?: Partial<PublishEvent>; contentType?: unknown; paths?: unknown; topics?: unknown };

/** The deliveries of one source and what they mean. */
export type SourceCases = {
  source: WebhookSourceName;
  settings?: object;
  /** One delivery and everything that is read from it; the action is `publish`, what is left out is empty. */
  example: [body: unknown, reading: Expected, headers?: Headers];
  publishes: [what: string, body: unknown, reading: Expected, headers?: Headers][];
  filtered: [what: string, body: unknown, topic: string, why: string, headers?: Headers][];
  /** Bodies that say nothing known, which publish; they are known by the delivery's id. */
  unknown?: { bodies: unknown[]; headers?: Headers };
  /** The keys that the source looks at, and headers that it may come with. */
  keys: string[];
  keyHeaders?: Headers[];
  /** What the keys may be in. */
  keyWrappers?: ((payload: unknown) => unknown)[];
};

export const RECEIVED_AT = '2026-11-21T08:00:00.000Z';

export const UNPUBLISH: Expected = { event: { action: 'unpublish' } };
