import type { PublishEvent } from '../../../contract/publish-event.ts';

/** The test data of a content system. Each file in vendors/ exports one as `vendor`. */
export type Vendor = {
  /** Two valid secrets, as during a rotation, and an invalid one. */
  secrets: readonly [string, string, string];
  /** Settings beside the secret. */
  settings?: object;
  /** How it signs. Prismic has no scheme, because its secret is in the body. */
  scheme?: Scheme;
  /** Deliveries and their parsed events. GitHub has a separate test. */
  cases?: SourceCases;
  /** The fields of a sample's event that differ from the other sources. */
  sample?: Partial<Record<keyof PublishEvent, unknown>>;
};

export type SignedHeaders = Record<string, string>;
export type SignInput = { secret: string; body: string; path: string; at: Date };

export type Scheme = {
  /** Signs like the vendor, with the vendor's package or with code that is independent of the product. */
  sign: (input: SignInput) => SignedHeaders | Promise<SignedHeaders>;
  /** The header of the signature. */
  signature: string;
  /** Required headers in addition to the signature. */
  required?: string[];
  /** Headers that the signature covers. */
  signed?: string[];
  /** Protected parts of the signature header, each with a forged replacement. */
  signedParts?: [part: RegExp, forged: string][];
  /** False if only a token is compared. */
  signsBody: boolean;
  /** The sender's own id of the delivery, if it sends one. */
  idOf?: (headers: SignedHeaders, body: string) => string | undefined;
  /** The oldest signed time that is accepted, if a time is signed. */
  pastMs?: number;
  /** The furthest ahead that it may be; by default a minute. */
  futureMs?: number;
};

export const FIVE_MINUTES_MS = 300_000;

export const secretsOf = (source: string) => [`${source}-a`, `${source}-b`, `${source}-c`] as const;

export const tokenScheme = (sign: Scheme['sign'], signature = 'authorization'): Scheme => ({
  sign,
  signature,
  signsBody: false,
});

type Headers = Record<string, string>;

/** The parsed result of a delivery that publishes. */
type Expected = { event?: Partial<PublishEvent>; contentType?: unknown; paths?: unknown; topics?: unknown };

export type SourceCases = {
  /** One delivery and its complete event. The action is `publish`, and missing fields are empty. */
  example: [body: unknown, parsed: Expected, headers?: Headers];
  publishes: [what: string, body: unknown, parsed: Expected, headers?: Headers][];
  filtered: [what: string, body: unknown, topic: string, why: string, headers?: Headers][];
  /** Bodies without any known field, which publish with the delivery's id. */
  unknown?: { bodies: unknown[]; headers?: Headers };
  /** The keys that the source reads, and headers that may come with them. */
  keys: string[];
  keyHeaders?: Headers[];
  /** Wrap a generated payload, so that the keys are nested. */
  keyWrappers?: ((payload: unknown) => unknown)[];
};

export const RECEIVED_AT = '2026-11-21T08:00:00.000Z';

export const UNPUBLISH: Expected = { event: { action: 'unpublish' } };
