import { z } from 'zod';
import { domainName } from './admin-api.ts';
import { durationMs, positiveDurationMs } from './duration.ts';
import { checkPromptTemplate } from './prompt-template.ts';

/**
 * galley.yaml after `${VAR}` was filled in. An unknown key is an error, so a typing mistake never silently becomes a
 * default. Durations are read to milliseconds.
 */

const name = z.string().regex(/^[a-z0-9][a-z0-9-]{0,62}$/i, 'expected letters, digits and "-", at most 63 characters');
const mailAddress = z.email('expected a mail address');
const secret = z.string().min(1, 'a secret must not be empty: check that its variable is set');

/** How old, and how far ahead of our clock, a signed time may be. */
const window = z.strictObject({ past: positiveDurationMs.optional(), future: durationMs.optional() });

const branch = { branch: z.string().min(1).default('main') };

/** One secret, or a list of which any may have signed: that is how a secret is rotated without a gap. */
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

const common = {
  secret: oneOrMore(secret),
  /** How long a second delivery with the same id is a resend; default 24h by the vendor's id, 60s by the body's hash. */
  dedupe: durationMs.optional(),
  window: window.optional(),
};

const headerName = z.string().regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/, 'expected the name of a header');

/**
 * A delivery publishes only when each named field of its body (a path with dots) has one of the values; others are
 * listed as filtered. Without filters every verified delivery publishes.
 */
const filters = z.record(
  z.string().min(1),
  z.union([z.string(), z.array(z.string()).min(1)], { error: 'expected a value (text) or a list of values' }),
);

const standardSecret = secret.regex(
  /^(?:whsec_)?(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}(?:==)?|[A-Za-z0-9+/]{3}=?)?$/,
  'expected whsec_ and the key in base64',
);

const standardSource = z.strictObject({ ...common, secret: oneOrMore(standardSecret), filters: filters.optional() });

const contentfulSource = z.strictObject({
  ...common,
  /** The path that Contentful calls, where a proxy in front of us changes it: the path is part of what is signed. */
  path: z.string().startsWith('/', 'expected a path that begins with /').optional(),
});

const tokenSource = z.strictObject({
  ...common,
  filters: filters.optional(),
  /** The header that carries the token; without it `Authorization: Bearer <secret>`. */
  header: headerName.optional(),
});

const hmacSource = z.strictObject({
  ...common,
  filters: filters.optional(),
  header: headerName,
  algorithm: z.enum(['sha256', 'sha512']).default('sha256'),
  encoding: z.enum(['hex', 'base64']).default('hex'),
  prefix: z.string().default(''),
  /** Signed as `{timestamp}.{body}` where this header is named. */
  timestampHeader: headerName.optional(),
  timestampUnit: z.enum(['s', 'ms']).default('s'),
  /** The header that carries the delivery's id; without it the hash of the body is the id. */
  idHeader: headerName.optional(),
});

const webhooks = z.strictObject({
  standard: standardSource.optional(),
  github: z.strictObject({ ...common, ...branch }).optional(),
  contentful: contentfulSource.optional(),
  token: tokenSource.optional(),
  hmac: hmacSource.optional(),
});
export type WebhookSourceName = keyof z.infer<typeof webhooks>;

const percent = z
  .string()
  .regex(/^(100|\d{1,2})%$/, 'expected a share such as 20%')
  .transform((text) => Number(text.slice(0, -1)) / 100)
  .refine((share) => share >= 0.01 && share <= 0.9, 'expected 1% to 90%');

const exportSettings = z.strictObject({
  timeout: positiveDurationMs.default(6 * 3_600_000),
  quietPeriod: durationMs.default(5_000),
  maxWait: durationMs.default(60_000),
  whenBusy: z.enum(['queue', 'cancel']).default('queue'),
  refreshMargin: percent.default(0.2),
  deployments: z.array(z.strictObject({ valuesFile: z.string().min(1) })).default([]),
});

const promptTemplate = z
  .string()
  .min(1)
  .superRefine((template, context) => {
    const message = checkPromptTemplate(template);
    if (message !== null) context.addIssue({ code: 'custom', message });
  });

const agentRule = z.strictObject({
  name,
  on: z.literal('publish'),
  prompt: promptTemplate,
  reviewers: z.array(mailAddress).default([]),
  quietPeriod: durationMs.default(30_000),
  maxPerHour: z.int().min(1).default(6),
  /** One time after the request for review, or several; each sends one reminder unless somebody reviewed by then. */
  remindAfter: z
    .union([positiveDurationMs, z.array(positiveDurationMs).min(1).max(20)], {
      error: 'expected a duration such as 2d, or a list of them',
    })
    .transform((value) => (Array.isArray(value) ? [...new Set(value)].sort((a, b) => a - b) : [value]))
    .default([]),
  expireAfter: positiveDurationMs.default(30 * 86_400_000),
});

const site = z.strictObject({
  domain: domainName,
  projectId: z.string().min(1).optional(),
  webhooks: webhooks.default({}),
  export: exportSettings.prefault({}),
  agent: z
    .array(agentRule)
    .default([])
    .refine((rules) => new Set(rules.map((rule) => rule.name)).size === rules.length, 'rule names must differ'),
});

const httpAddress = z.url({ protocol: /^https?$/, error: 'expected an http(s) address' });

export const galleyConfig = z.strictObject({
  adminApi: z.strictObject({ url: httpAddress, key: secret }),
  smtp: z
    .strictObject({
      url: z.url({ protocol: /^smtps?$/, error: 'expected an smtp(s) address' }),
      from: z.string().min(1),
    })
    .optional(),
  operators: z.array(mailAddress).default([]),
  forge: z
    .strictObject({
      kind: z.enum(['github', 'gitea', 'embedded']),
      url: httpAddress.optional(),
      token: secret.optional(),
    })
    .optional(),
  sites: z.record(name, site).default({}),
});

export type GalleyConfig = z.infer<typeof galleyConfig>;
export type SiteConfig = GalleyConfig['sites'][string];
export type ExportSettings = SiteConfig['export'];
export type AgentRule = SiteConfig['agent'][number];
export type WebhookSources = SiteConfig['webhooks'];
