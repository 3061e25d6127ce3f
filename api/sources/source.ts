import type { PublishEvent } from '../../contract/publish-event.ts';
import type { PullRequestChanged, Reviewed } from '../../contract/pull-request-event.ts';

/** A delivery as it came over the wire: nothing parsed, nothing decoded. */
export type WebhookRequest = {
  method: string;
  /** The path as the sender wrote it, without the query. */
  path: string;
  /** One header by its name in any case; undefined where it is missing. */
  header: (name: string) => string | undefined;
  body: Buffer;
};

/** Why a delivery was turned away. For metrics and the log only: outwards every reason reads the same. */
export type RejectReason =
  | 'missing-header'
  | 'malformed-header'
  | 'malformed-body'
  | 'bad-signature'
  | 'stale'
  | 'future';

/**
 * `vendorId`: the sender's own id of the delivery, null where it sends none; the hash of the body stands in, or that of
 * `idFrom` where the body holds a secret, which nobody is to guess from a hash.
 */
export type Verification = { ok: true; vendorId: string | null; idFrom?: string } | { ok: false; reason: RejectReason };

export type Delivery = { id: string; receivedAt: Date };

/**
 * What a verified delivery means: a publish, news of a pull request that a change may wait for, or something that is
 * listed and starts nothing. `topics` (where a delivery tells of several events), `contentType` and `paths` are what a
 * site's `only` is held to; a sender that doesn't tell leaves them out. `why` tells whoever sets the webhook up what kept
 * it from publishing.
 */
export type Reading =
  | {
      kind: 'publish';
      event: PublishEvent;
      topics?: readonly string[] | undefined;
      contentType?: string | readonly string[] | undefined;
      paths?: readonly string[] | undefined;
    }
  | { kind: 'pull-request'; change: Omit<PullRequestChanged, 'deliveryId'> }
  | { kind: 'review'; review: Omit<Reviewed, 'deliveryId'> }
  | { kind: 'filtered'; topic: string; why: string };

/** One way in which content systems sign and describe their deliveries. */
export interface WebhookSource {
  /** Checks the raw bytes against each secret, and the signed time against `now`. Never throws or rejects. */
  verify(request: WebhookRequest, secrets: readonly string[], now: Date): Verification | Promise<Verification>;
  /** Reads a verified delivery. `body` is its JSON. Throws HttpError 400 where a field it can't do without is missing. */
  read(request: WebhookRequest, body: unknown, delivery: Delivery): Reading;
  /**
   * Whether this form is how the sender tries the address out before its first delivery: unsigned, with nothing in it.
   * It is answered 200, and nothing comes of it. Left out where a sender does no such thing.
   */
  isTrial?(request: WebhookRequest): boolean;
}

export function rejected(reason: RejectReason): Verification {
  return { ok: false, reason };
}
