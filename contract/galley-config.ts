import { z } from 'zod';
import { adminApiKey, adminApiUrl, basePath, domainName, opaqueId, siteOrigin, staticExportForm } from './admin-api.ts';
import { deploymentConfig } from './deployment-config.ts';
import { durationMs, positiveDurationMs } from './duration.ts';
import { EXPORT_DEFAULTS, GUARD_DEFAULTS } from './export-defaults.ts';
import { httpUrl } from './http-url.ts';
import { SITE_NAME } from './names.ts';
import { NOTIFICATION_TYPES } from './notification.ts';
import { checkPromptTemplate } from './prompt-template.ts';
import { proofPages } from './proof.ts';
import { urlWithoutCredentials } from './target-kind.ts';
import { oneOrMore, secret, standardSecret, type WebhooksSection } from './webhook-settings.ts';

/**
 * galley.yaml after `${VAR}` interpolation. An unknown key is an error, so that a typo never means a default. Durations
 * are parsed to milliseconds.
 */

/** The name of a site or an agent rule. */
export const siteName = z.string().regex(SITE_NAME, 'expected letters, digits and "-", at most 63 characters');
const mailAddress = z.email('expected a mail address');
const percent = z
  .string()
  .regex(/^(100|\d{1,2})%$/, 'expected a share such as 20%')
  .transform((text) => Number(text.slice(0, -1)) / 100)
  .refine((share) => share >= 0.01 && share <= 0.9, 'expected 1% to 90%');

/** An export beyond these is held until someone approves it. */
const guards = z.strictObject({
  /** Share of the served version's pages that may go missing. */
  maxShrink: percent.default(GUARD_DEFAULTS.maxShrink),
  /** Links that the served version doesn't have as broken. */
  maxNewlyBroken: z.int().min(0).default(GUARD_DEFAULTS.maxNewlyBroken),
  /** Whether a start page that has become an error or a sign-in page holds the export. */
  startPage: z.boolean().default(GUARD_DEFAULTS.startPage),
  /** Whether a page that a browser shows differently than the origin's holds the export. */
  proof: z.boolean().default(GUARD_DEFAULTS.proof),
});

/** The keys of `export` that are settings of the project. */
export const PROJECT_KEYS = ['search', 'markdown', 'prove'] as const;

const exportSettings = z.strictObject({
  timeout: positiveDurationMs.default(EXPORT_DEFAULTS.timeoutMs),
  quietPeriod: durationMs.default(EXPORT_DEFAULTS.quietPeriodMs),
  maxWait: durationMs.default(EXPORT_DEFAULTS.maxWaitMs),
  whenBusy: z.enum(['queue', 'cancel']).default(EXPORT_DEFAULTS.whenBusy),
  /** Where the site is mounted below its domain; form `project` only. */
  basePath: basePath.optional(),
  refreshMargin: percent.default(EXPORT_DEFAULTS.refreshMargin),
  /** Operators get a mail about failures that last this long. */
  tellAfter: durationMs.default(EXPORT_DEFAULTS.tellAfterMs),
  deployments: z.array(deploymentConfig).default([]),
  guards: guards.optional(),
  /** `PROJECT_KEYS`: `up` sets them in the project; other programs ignore them. */
  search: z.enum(['off', 'pagefind'], { error: 'expected off or pagefind' }).optional(),
  markdown: z.enum(['keep', 'on'], { error: 'expected keep or on' }).optional(),
  prove: proofPages.optional(),
});

const promptTemplate = z
  .string()
  .min(1)
  .superRefine((template, context) => {
    const message = checkPromptTemplate(template);
    if (message !== null) context.addIssue({ code: 'custom', message });
  });

const MAX_FOLLOW_UPS = 'expected a number from 1 to 20';

const agentRule = z.strictObject({
  name: siteName,
  on: z.literal('publish'),
  prompt: promptTemplate,
  reviewers: z.array(mailAddress).default([]),
  quietPeriod: durationMs.default(30_000),
  maxPerHour: z.int().min(1).default(6),
  /** One or several times after the review request; each sends one reminder until a reviewer's verdict. */
  remindAfter: z
    .union([positiveDurationMs, z.array(positiveDurationMs).min(1).max(20)], {
      error: 'expected a duration such as 2d, or a list of them',
    })
    .transform((value) => (Array.isArray(value) ? [...new Set(value)].sort((a, b) => a - b) : [value]))
    .default([]),
  expireAfter: positiveDurationMs.default(30 * 86_400_000),
  /** A requested reviewer's "changes requested" becomes a follow-up prompt, for at most so many reviews of a change. */
  followUps: z.strictObject({ max: z.int().min(1, MAX_FOLLOW_UPS).max(20, MAX_FOLLOW_UPS) }).optional(),
});

const notifyTarget = z
  .strictObject({
    slack: urlWithoutCredentials.optional(),
    webhook: urlWithoutCredentials.optional(),
    /** Signs; each secret of a list adds a signature, so that a secret can be rotated without a gap. */
    secret: oneOrMore(standardSecret).optional(),
    on: z
      .array(z.enum(NOTIFICATION_TYPES, { error: `expected any of ${NOTIFICATION_TYPES.join(', ')}` }))
      .min(1)
      .default([...NOTIFICATION_TYPES]),
  })
  .superRefine(({ slack, webhook, secret }, context) => {
    const problem = (key: string, message: string): void => {
      context.addIssue({ code: 'custom', path: [key], message });
    };
    if (slack === undefined && webhook === undefined) problem('slack', 'expected slack: URL or webhook: URL');
    if (slack !== undefined && webhook !== undefined)
      problem('webhook', 'expected one URL: slack or webhook, not both');
    if (webhook !== undefined && secret === undefined) {
      problem('secret', 'expected the secret that signs: whsec_ and the key in base64');
    }
    if (webhook === undefined && secret !== undefined) problem('secret', 'expected no secret: only webhook is signed');
  });

/** Each event is delivered to a URL once, so a second entry would have no effect. */
const notify = z
  .array(notifyTarget)
  .max(20)
  .superRefine((targets, context) => {
    const seen = new Set<string>();
    for (const [index, { slack, webhook }] of targets.entries()) {
      const url = slack ?? webhook ?? '';
      const key = slack === undefined ? 'webhook' : 'slack';
      if (seen.has(url)) context.addIssue({ code: 'custom', path: [index, key], message: 'expected each URL once' });
      seen.add(url);
    }
  });

/**
 * The schema of galley.yaml. The section `webhooks` is a parameter because each source in api/sources/ has its own
 * settings, which this folder can't import.
 */
export function galleyConfigSchema(webhooks: z.ZodType<WebhooksSection>) {
  const site = z.strictObject({
    domain: domainName,
    /** Where the site is served, if not at its domain. `up` sets it in the project; other programs ignore it. */
    origin: siteOrigin.optional(),
    projectId: opaqueId.optional(),
    webhooks: webhooks.default({}),
    export: exportSettings.prefault({}),
    agent: z
      .array(agentRule)
      .default([])
      .refine((rules) => new Set(rules.map((rule) => rule.name)).size === rules.length, 'rule names must differ'),
  });
  return z.strictObject({
    adminApi: z.strictObject({
      url: adminApiUrl,
      key: secret.pipe(adminApiKey),
      /** The form of static export that the service has; `auto` asks it. */
      staticExport: z.enum(['auto', ...staticExportForm.options]).default('auto'),
      /** Starts that the service allows the organization; without it, a 429 teaches it. */
      startsPerHour: z.int().min(1).optional(),
    }),
    smtp: z
      .strictObject({
        url: z.url({ protocol: /^smtps?$/, error: 'expected an smtp(s) URL' }),
        from: z.string().min(1),
      })
      .optional(),
    operators: z.array(mailAddress).default([]),
    notify: notify.default([]),
    forge: z
      .strictObject({
        kind: z.enum(['github', 'gitea', 'embedded']),
        url: httpUrl.optional(),
        token: secret.optional(),
      })
      .optional(),
    sites: z.record(siteName, site).default({}),
  });
}

export type GalleyConfig = z.infer<ReturnType<typeof galleyConfigSchema>>;
export type NotifyConfig = GalleyConfig['notify'];
export type SiteConfig = GalleyConfig['sites'][string];

/** A site of galley.yaml, by a name that may come from a request: every object has a `constructor`. */
export function siteNamed({ sites }: Pick<GalleyConfig, 'sites'>, name: string): SiteConfig | undefined {
  return Object.hasOwn(sites, name) ? sites[name] : undefined;
}
