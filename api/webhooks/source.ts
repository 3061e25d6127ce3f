// How to add a source: docs/development.md, "Adding a webhook source".
import { z } from 'zod';
import type { PublishEvent } from '../../contract/publish-event.ts';
import type { PullRequestChanged, Reviewed } from '../../contract/pull-request-event.ts';
import { commonSettings, type WebhookSettings } from '../../contract/webhook-settings.ts';
import type { Selection } from './select-json.ts';

/** Reads one header by its name, in any case; undefined if it is missing. */
export type ReadHeader = (name: string) => string | undefined;

/** A delivery as it was received, with nothing parsed or decoded. */
export type WebhookRequest = {
  method: string;
  /** The path as the sender wrote it, without the query. */
  path: string;
  header: ReadHeader;
  body: Buffer;
};

/** Why a delivery was rejected. Only metrics, logs and operators see it: the response is the same for every reason. */
export type RejectReason =
  | 'missing-header'
  | 'malformed-header'
  | 'malformed-body'
  | 'bad-signature'
  | 'stale'
  | 'future';

/**
 * `vendorId` is the sender's own id of the delivery. If it is null, the id is the hash of `idFrom`, or of the body.
 * A source whose body holds a secret sets `idFrom`, so that the secret can't be guessed from the hash.
 */
export type Verification = { ok: true; vendorId: string | null; idFrom?: string } | Rejection;
export type Rejection = { ok: false; reason: RejectReason };

/** Verifies a body that arrives in pieces. */
export type StreamVerifier = { update(chunk: Buffer): void; finish(): Verification };

/** For a sender whose bodies may be larger than 1 MiB: they are verified and read while they arrive. */
export type LargeBodies<Settings> = {
  maxBytes: number;
  /** What `parse` reads of a body. The rest isn't kept. */
  fields: Selection;
  /** Like `verify`, without the body. Returns a rejection if that is known already. */
  startVerifying(request: Omit<WebhookRequest, 'body'>, context: VerifyContext<Settings>): StreamVerifier | Rejection;
};

type VerifyContext<Settings> = {
  settings: Settings;
  /** Any of these may have signed. */
  secrets: readonly string[];
  now: Date;
};

/** A verified delivery. `body` is its JSON. */
export type Delivery = { body: unknown; header: ReadHeader; id: string; receivedAt: Date };

/**
 * What a verified delivery means: a publish, an event of a pull request, or something that starts nothing.
 * A site's `only` checks `topics` (by default the event's topic), `contentType` and `paths`; a source leaves out what the
 * sender doesn't send. `why` explains to the person who sets up the webhook why nothing was published.
 */
export type ParsedDelivery =
  | {
      kind: 'publish';
      event: Omit<PublishEvent, 'source'>;
      topics?: readonly string[] | undefined;
      contentType?: string | readonly string[] | undefined;
      paths?: readonly string[] | undefined;
    }
  | { kind: 'pull-request'; change: Omit<PullRequestChanged, 'deliveryId'> }
  | { kind: 'review'; review: Omit<Reviewed, 'deliveryId'> }
  | Filtered;

export type Filtered = { kind: 'filtered'; topic: string; why: string };

/** The content of a sample delivery. */
export type SampleEvent = {
  title: string;
  slug: string;
  /** A URL on the site's own domain. */
  url: string;
  author: string;
  at: Date;
  /** The id for systems that identify entries by UUIDs or other texts. */
  uuid: string;
  /** The id for systems that number their entries: up to 15 digits. */
  number: number;
};

/** A delivery to be signed. */
export type UnsignedDelivery = {
  /** The text to send. */
  body: string;
  /** The parsed body. */
  json: unknown;
  secret: string;
  /** The path to call, without a query. */
  path: string;
  at: Date;
  /** The delivery's id, for systems that send one. */
  id: string;
};

/** `headers` are added to `Content-Type: application/json`. `body` replaces the body, if the secret belongs into it. */
export type SignedRequest = { headers: Readonly<Record<string, string>>; body?: string };

/**
 * One content system: how it is configured, how it signs a delivery and what its deliveries mean.
 * Each file in api/sources/ exports one as `source`; the file's name is the name in galley.yaml and in the URL. The members
 * are methods, so that TypeScript lets sources with different settings into one registry.
 */
export interface WebhookSource<Settings extends WebhookSettings = WebhookSettings> {
  /** The source's section in galley.yaml. */
  settings: z.ZodType<Settings>;
  /** How long the sender repeats a delivery with its id, at most three days. By default it is a day. */
  retryPeriodMs?: number;
  /** Checks the raw bytes against each secret, and a signed time against `now`. Never throws or rejects. */
  verify(request: WebhookRequest, context: VerifyContext<Settings>): Verification | Promise<Verification>;
  large?: LargeBodies<Settings>;
  /** Reads a verified delivery. Throws HttpError 400 if a field is missing that it can't do without. */
  parse(delivery: Delivery, settings: Settings): ParsedDelivery;
  /** Whether this unsigned form is how the sender checks the URL before its first delivery. It gets a 200. */
  isPing?(request: WebhookRequest): boolean;
  /** A body as the system sends it for a publish. */
  sample(event: SampleEvent, settings: Settings): Record<string, unknown>;
  /** Signs as the system does. Throws SigningError if the system can't send this delivery. */
  sign(delivery: UnsignedDelivery, settings: Settings): SignedRequest;
}

/** Infers the type of the settings from their schema. */
export function defineSource<Settings extends WebhookSettings>(
  source: WebhookSource<Settings>,
): WebhookSource<Settings> {
  return source;
}

/** Thrown when a delivery can't be signed, because of its body or because of the secret. */
export class SigningError extends Error {
  override readonly name = 'SigningError';
  readonly part: 'body' | 'secret';

  constructor(part: 'body' | 'secret', message: string) {
    super(message);
    this.part = part;
  }
}

export function rejected(reason: RejectReason): Rejection {
  return { ok: false, reason };
}

/** Settings that several sources share. */

export const headerName = z.string().regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/, 'expected the name of a header');

/**
 * A delivery publishes only if each named field of its body (a path with dots) has one of the values. For senders that
 * choose the shape of their bodies themselves.
 */
export const filters = z.record(
  z.string().min(1),
  z.union([z.string(), z.array(z.string()).min(1)], { error: 'expected a value (text) or a list of values' }),
);
export type Filters = Readonly<Record<string, string | readonly string[]>>;

/** Settings of a source that needs no more than what all sources have. */
export const plainSettings = z.strictObject(commonSettings);

type Fields = Pick<PublishEvent, 'topic' | 'action'> & {
  [Key in 'id' | 'title' | 'url' | 'author' | 'at']?: string | undefined;
} & Pick<Extract<ParsedDelivery, { kind: 'publish' }>, 'topics' | 'contentType' | 'paths'>;

/**
 * A publish from the fields that the sender sent. Defaults: the delivery's id for the id, the id for the title, the time
 * of receipt for the time, and an empty text for the rest.
 */
export function published(fields: Fields, { id: deliveryId, receivedAt }: Delivery): ParsedDelivery {
  const { topic, action, id = deliveryId, topics, contentType, paths } = fields;
  const { title = id, url = '', author = '', at = receivedAt.toISOString() } = fields;
  return {
    kind: 'publish',
    ...(topics !== undefined && { topics }),
    ...(contentType !== undefined && { contentType }),
    ...(paths !== undefined && { paths }),
    event: { topic, action, id, title, url, author, at },
  };
}

/**
 * The path of a page's URL, as a list. Undefined if the URL has a query: WordPress uses one for a page that isn't public,
 * and its path says nothing then.
 */
export function pathsOf(link: string | undefined): readonly string[] | undefined {
  if (link === undefined || !URL.canParse(link)) return undefined;
  const { pathname, search } = new URL(link);
  return search === '' ? [pathname] : undefined;
}
