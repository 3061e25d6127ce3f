import { z } from 'zod';
import { domainName } from './admin-api.ts';
import { durationMs, positiveDurationMs } from './duration.ts';

/**
 * galley.yaml after `${VAR}` was filled in. An unknown key is an error, so a typing mistake never silently becomes a
 * default. Durations are read to milliseconds.
 */

const name = z.string().regex(/^[a-z0-9][a-z0-9-]{0,62}$/i, 'expected letters, digits and "-", at most 63 characters');
const mailAddress = z.email();
const secret = z.string().min(1, 'a secret must not be empty: check that its variable is set');

const window = z.strictObject({ past: positiveDurationMs.optional(), future: durationMs.optional() });

const branch = { branch: z.string().min(1).default('main') };
const secrets = { secret: z.union([secret, z.array(secret).min(1)]) };
const common = { ...secrets, window: window.optional(), dedupe: durationMs.optional() };

const tokenSource = z.strictObject({
  ...common,
  /** The header that carries the token; without it `Authorization: Bearer <secret>`. */
  header: z.string().min(1).optional(),
});

const hmacSource = z.strictObject({
  ...common,
  header: z.string().min(1),
  algorithm: z.enum(['sha256', 'sha512']).default('sha256'),
  encoding: z.enum(['hex', 'base64']).default('hex'),
  prefix: z.string().default(''),
  /** Signed as `{timestamp}.{body}` where this header is named. */
  timestampHeader: z.string().min(1).optional(),
  timestampUnit: z.enum(['s', 'ms']).default('s'),
  idHeader: z.string().min(1).optional(),
});

const webhooks = z.strictObject({
  standard: z.strictObject(common).optional(),
  github: z.strictObject({ ...common, ...branch }).optional(),
  contentful: z.strictObject(common).optional(),
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

const agentRule = z.strictObject({
  name,
  on: z.literal('publish'),
  prompt: z.string().min(1),
  reviewers: z.array(mailAddress).default([]),
  quietPeriod: durationMs.default(30_000),
  maxPerHour: z.int().min(1).default(6),
  remindAfter: positiveDurationMs.optional(),
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

export const galleyConfig = z.strictObject({
  adminApi: z.strictObject({
    url: z.url({ protocol: /^https?$/, error: 'expected an http(s) address' }),
    key: secret,
  }),
  smtp: z.strictObject({ url: z.url({ protocol: /^smtps?$/ }), from: z.string().min(1) }).optional(),
  operators: z.array(mailAddress).default([]),
  forge: z
    .strictObject({
      kind: z.enum(['github', 'gitea', 'embedded']),
      url: z.url({ protocol: /^https?$/ }).optional(),
      token: secret.optional(),
    })
    .optional(),
  sites: z.record(name, site).default({}),
});

export type GalleyConfig = z.infer<typeof galleyConfig>;
export type SiteConfig = GalleyConfig['sites'][string];
export type ExportSettings = SiteConfig['export'];
export type WebhookSources = SiteConfig['webhooks'];
