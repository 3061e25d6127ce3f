import { z } from 'zod';
import { durationMs, positiveDurationMs } from './duration.ts';

/** What every webhook source of a site takes in galley.yaml. What one source adds is in its own file in api/sources/. */

export const secret = z.string().min(1, 'a secret must not be empty: check that its variable is set');

/** A secret of Standard Webhooks, with or without its prefix. */
export const STANDARD_SECRET =
  /^(?:whsec_)?(?=[A-Za-z0-9+/])(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}(?:==)?|[A-Za-z0-9+/]{3}=?)?$/;
export const standardSecret = secret.regex(STANDARD_SECRET, 'expected whsec_ and the key in base64');

/** One secret, or a list of which any may have signed, so that a secret can be rotated without a gap. */
export const oneOrMore = (each: z.ZodString) =>
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

/** How old a signed time may be, and how far ahead of this machine's clock. */
const window = z.strictObject({ past: positiveDurationMs.optional(), future: durationMs.optional() });

/** `*` matches anything but `/`; `**` between slashes matches any number of folders. */
const pattern = z.string().min(1, 'a pattern must not be empty');
const patterns = z
  .union([pattern, z.array(pattern).min(1)], {
    error: 'expected a pattern (text) or a list of patterns',
  })
  .transform((value) => [value].flat());

/** Publishes only what matches. A value that the delivery lacks matches, because a lost publish is worse than an export too many. */
const only = z.strictObject({
  /** The sender's name of the event, such as `ContentManagement.Entry.publish`. */
  topic: patterns.optional(),
  /** The kind of content: a content type, a model, a collection, a post type. */
  contentType: patterns.optional(),
  /** The path of a page or, in a push, of any changed file. */
  path: patterns.optional(),
});
export type Only = z.infer<typeof only>;

/** The keys of every source. A source's schema is `z.strictObject({ ...commonSettings, … })`. */
export const commonSettings = {
  secret: oneOrMore(secret),
  /** How long a delivery with the same id is a resend. */
  dedupe: durationMs.optional(),
  window: window.optional(),
  only: only.optional(),
  /** The status of an accepted delivery: some senders treat any status but 200 as a failure. */
  answer: z.union([z.literal(200), z.literal(202)], { error: 'expected 200 or 202' }).optional(),
};

const webhookSettings = z.strictObject(commonSettings);
export type WebhookSettings = z.infer<typeof webhookSettings>;

/** The section `webhooks` of a site: settings by the name of the source. */
export type WebhooksSection = { [source: string]: WebhookSettings | undefined };
