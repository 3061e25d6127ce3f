import { z } from 'zod';
import { durationMs, positiveDurationMs } from './duration.ts';

/** A site's `webhooks` section in galley.yaml: who may publish, and how senders authenticate. */

export const secret = z.string().min(1, 'a secret must not be empty: check that its variable is set');

/** How far a signed time may be from Galley's clock, in either direction. */
const window = z.strictObject({ past: positiveDurationMs.optional(), future: durationMs.optional() });

/** One secret, or a list of accepted ones, so that a secret can be rotated without a gap. */
const oneOrMore = (each: z.ZodString) =>
  z
    .union([z.string(), z.array(z.string()).min(1)], { error: 'expected a secret (text) or a list of secrets' })
    .superRefine((value, context) => {
      for (const [index, text] of (Array.isArray(value) ? value : [value]).entries()) {
        const message = each.safeParse(text).error?.issues[0]?.message;
        if (message !== undefined) {
          context.addIssue({ code: 'custom', message, path: Array.isArray(value) ? [index] : [] });
        }
      }
    });

/** Patterns in which `*` matches anything but `/`, and `**` between slashes any number of folders. */
const pattern = z.string().min(1, 'a pattern must not be empty');
const patterns = z
  .union([pattern, z.array(pattern).min(1)], {
    error: 'expected a pattern (text) or a list of patterns',
  })
  .transform((value) => [value].flat());

/**
 * Publishes only matching events, for any sender. A delivery that lacks the field passes, because a needless export
 * does less harm than a lost publish.
 */
const only = z.strictObject({
  /** The sender's own word for the event, such as `ContentManagement.Entry.publish`. */
  topic: patterns.optional(),
  /** The kind of content: a content type, a model, a collection, a post type. */
  contentType: patterns.optional(),
  /** The path of a page or, in a push, of any changed file. */
  path: patterns.optional(),
});
export type Only = z.infer<typeof only>;

const common = {
  secret: oneOrMore(secret),
  /**
   * How long a second delivery with the same id counts as a resend; default 24h by the vendor's id, 60s by the body's
   * hash.
   */
  dedupe: durationMs.optional(),
  window: window.optional(),
  only: only.optional(),
  /** The status for an accepted delivery: 202, or 200 for senders that treat anything else as a failure. */
  answer: z.union([z.literal(200), z.literal(202)], { error: 'expected 200 or 202' }).optional(),
};

const headerName = z.string().regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/, 'expected the name of a header');

/**
 * A delivery publishes only if each named field of its body (a path with dots) has one of the values; others are listed
 * as filtered. For senders whose bodies only their users know.
 */
const filters = z.record(
  z.string().min(1),
  z.union([z.string(), z.array(z.string()).min(1)], { error: 'expected a value (text) or a list of values' }),
);

const standardSecret = secret.regex(
  /^(?:whsec_)?(?=[A-Za-z0-9+/])(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}(?:==)?|[A-Za-z0-9+/]{3}=?)?$/,
  'expected whsec_ and the key in base64',
);

const standard = z.strictObject({ ...common, secret: oneOrMore(standardSecret), filters: filters.optional() });

const contentful = z.strictObject({
  ...common,
  /** The path that Contentful calls if a proxy changes it, because the path is part of what is signed. */
  path: z.string().startsWith('/', 'expected a path that begins with /').optional(),
});

const signed = z.strictObject(common);

const ghost = z.strictObject({
  ...common,
  /** Also accepts the signatures of Ghost before July 2024, which lack the time, so a copied delivery works again. */
  unsignedTime: z.boolean().default(false),
});

const token = z.strictObject({
  ...common,
  filters: filters.optional(),
  /** The header that carries the token; without it `Authorization: Bearer <secret>`. */
  header: headerName.optional(),
});

const hmac = z.strictObject({
  ...common,
  filters: filters.optional(),
  header: headerName,
  algorithm: z.enum(['sha256', 'sha512']).default('sha256'),
  encoding: z.enum(['hex', 'base64']).default('hex'),
  prefix: z.string().default(''),
  /** The signature covers `{timestamp}.{body}` if this header is named. */
  timestampHeader: headerName.optional(),
  timestampUnit: z.enum(['s', 'ms']).default('s'),
  /** The header that carries the delivery's id; without it the hash of the body is the id. */
  idHeader: headerName.optional(),
});

export const webhookSources = z.strictObject({
  standard: standard.optional(),
  github: z.strictObject({ ...common, branch: z.string().min(1).default('main') }).optional(),
  contentful: contentful.optional(),
  sanity: signed.optional(),
  ghost: ghost.optional(),
  storyblok: signed.optional(),
  hygraph: signed.optional(),
  kontent: signed.optional(),
  webflow: signed.optional(),
  woocommerce: signed.optional(),
  prismic: signed.optional(),
  strapi: token.optional(),
  directus: token.optional(),
  payload: token.optional(),
  wordpress: token.optional(),
  token: token.optional(),
  hmac: hmac.optional(),
});
export type WebhookSources = z.infer<typeof webhookSources>;
export type WebhookSourceName = keyof WebhookSources;
