import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { z } from 'zod';
import { isAddressRange } from '../../base/ip-address.ts';
import { adminApiKey, adminApiUrl } from '../../contract/admin-api.ts';
import { ConfigurationError } from '../../contract/configuration-error.ts';
import { formatDurationMs, positiveDurationMs } from '../../contract/duration.ts';
import { httpUrl } from '../../contract/http-url.ts';
import { agentVariables, readAgentSettings } from './agent.ts';
import { byteSize } from './byte-size.ts';
import {
  browserVariables,
  exportKeep,
  exportVariables,
  forgeVariables,
  readBrowserSettings,
  readExportLimits,
  readForgeSettings,
} from './platform.ts';
import { readServingSettings, servingVariables } from './serving.ts';

/** The process's variables. Only this file and its callees read them. */
export type Variables = Readonly<Record<string, string | undefined>>;

const HOUR_MS = 3_600_000;

const port = z
  .string()
  .regex(/^\d+$/, 'expected a port number, 0 for a free one')
  .transform(Number)
  .refine((value) => value <= 65_535, 'expected a port number up to 65535');

/** The first encrypts, all decrypt. */
const encryptionKeys = z.string().transform((text, context): readonly Buffer[] => {
  const keys = text.split(',').map((entry) => Buffer.from(entry.trim(), 'base64'));
  for (const [index, key] of keys.entries()) {
    if (key.length === 32) continue;
    const where = keys.length === 1 ? '' : `entry ${index + 1} of ${keys.length}: `;
    const message = `${where}expected 32 bytes in base64, as \`openssl rand -base64 32\` prints them`;
    context.addIssue({ code: 'custom', message });
  }
  return keys;
});

const addressRanges = z.string().transform((text, context): readonly string[] => {
  const ranges = text.split(',').map((entry) => entry.trim());
  for (const range of ranges.filter((each) => !isAddressRange(each))) {
    const message = `expected addresses or networks such as 10.0.0.0/8, separated by commas, not "${range}"`;
    context.addIssue({ code: 'custom', message });
  }
  return ranges;
});

/** Temporal joins name and build with a ".". */
const deploymentName = z.string().regex(/^[\w-]{1,100}$/, 'expected up to 100 letters, digits, "-" and "_"');
const buildId = z.string().regex(/^[\w.+-]{1,100}$/, 'expected up to 100 letters, digits, "-", "_", "+" and "."');

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

const schema = z.object({
  HOST: z.string().default('127.0.0.1'),
  PORT: port.default(3000),
  PLATFORM_PORT: port.default(3100),
  DEPLOYMENT_PORT: port.default(3200),
  TEMPORAL_PORT: port.default(7233),
  TEMPORAL_UI_PORT: port.default(8233),
  TEMPORAL_UI_URL: httpUrl.optional(),
  METRICS_PORT: port.optional(),
  HEARTBEAT_URL: httpUrl.optional(),
  TEMPORAL_ADDRESS: z.string().optional(),
  TEMPORAL_NAMESPACE: z.string().optional(),
  TEMPORAL_PROFILE: z.string().optional(),
  TEMPORAL_CONFIG_FILE: z.string().optional(),
  DATABASE_URL: z.url({ protocol: /^postgres(ql)?$/, error: 'expected postgres://user:password@host/name' }).optional(),
  OBJECT_STORE_URL: z.url({ protocol: /^(file|s3)$/, error: 'expected file:///dir or s3://bucket' }).optional(),
  BUNDLE_LINK_TTL: positiveDurationMs.default(24 * HOUR_MS),
  EXPORT_KEEP: exportKeep.optional(),
  PLATFORM_PUBLIC_URL: httpUrl.optional(),
  API_PUBLIC_URL: httpUrl.optional(),
  TRUSTED_PROXIES: addressRanges.default([]),
  UNSUBSCRIBE_SECRET: z
    .string()
    .min(16, 'expected at least 16 characters, as `openssl rand -base64 32` prints them')
    .optional(),
  ...agentVariables,
  ...forgeVariables,
  ...browserVariables,
  ...exportVariables,
  ...servingVariables,
  PLATFORM_SMTP_URL: z.url({ protocol: /^smtps?$/, error: 'expected smtp://host:port or smtps://host' }).optional(),
  PLATFORM_SMTP_FROM: z.string().min(3).optional(),
  OIDC_ISSUER: httpUrl.optional(),
  OIDC_CLIENT_ID: z.string().min(1).optional(),
  OIDC_CLIENT_SECRET: z.string().min(1).optional(),
  // Other characters can't be sent in a header, so the token would be unusable.
  OPERATOR_TOKEN: z
    .string()
    .regex(/^[\x21-\x7e]+$/, 'expected letters, digits and signs without spaces')
    .optional(),
  ADMIN_API_URL: adminApiUrl.optional(),
  ADMIN_API_KEY: z.string().trim().pipe(adminApiKey).optional(),
  GALLEY_HOME: z.string().default('.galley'),
  FILTERED_DELIVERIES_MAX_BYTES: byteSize.default(50_000_000),
  GALLEY_CONFIG: z.string().optional(),
  GALLEY_ENCRYPTION_KEY: encryptionKeys.default([]),
  LOG_LEVEL: z.enum(LOG_LEVELS, { error: `expected one of ${LOG_LEVELS.join(', ')}` }).default('info'),
  MIN_REFRESH_INTERVAL: positiveDurationMs.default(30_000),
  OTEL_EXPORTER_OTLP_ENDPOINT: httpUrl.optional(),
  WORKER_DEPLOYMENT: deploymentName.optional(),
  WORKER_BUILD_ID: buildId.optional(),
});

/** Every variable that is read here; others have a standard of their own. */
export const VARIABLE_NAMES = Object.keys(schema.shape);

/** Whether a variable is read by Galley, or by the clients of its database, Temporal, traces and objects. */
function isGalleys(name: string, { OBJECT_STORE_URL }: z.infer<typeof schema>): boolean {
  const isOfClient = /^(?:GALLEY|TEMPORAL|OTEL|PG[A-Z]+)(?:_|$)/.test(name);
  return (
    VARIABLE_NAMES.includes(name) ||
    isOfClient ||
    (OBJECT_STORE_URL?.startsWith('s3:') === true && name.startsWith('AWS_'))
  );
}

export type Settings = ReturnType<typeof readSettings>;

/**
 * Reads and validates all variables once, at start. An empty variable counts as unset.
 * @throws ConfigurationError naming each variable and what was expected.
 */
export function readSettings(variables: Variables = process.env) {
  const filled: Variables = Object.fromEntries(
    Object.entries(variables).filter(([, value]) => value !== undefined && value !== ''),
  );
  const env = parse(filled);
  const agent = readAgentSettings(env, (name) => isGalleys(name, env));
  const forge = readForgeSettings(env);
  const problems = [...agent.problems, ...forge.problems, ...incompleteGroups(env), ...deadLinks(env)];
  if (problems.length > 0) throw new ConfigurationError(problems);
  return {
    host: env.HOST,
    port: env.PORT,
    platformPort: env.PLATFORM_PORT,
    deploymentPort: env.DEPLOYMENT_PORT,
    temporalPort: env.TEMPORAL_PORT,
    temporalUiPort: env.TEMPORAL_UI_PORT,
    /** The URL of Temporal's UI, for links; if undefined, only the embedded Temporal has links. */
    temporalUiUrl: withoutSlash(env.TEMPORAL_UI_URL),
    /** The port of the workers' metrics and probes; undefined: there are none. */
    metricsPort: env.METRICS_PORT,
    /** Requested by each successful check of the watchdog. */
    heartbeatUrl: env.HEARTBEAT_URL,
    /** False: no Temporal service is configured, so `up` starts its own. */
    temporalConfigured: [env.TEMPORAL_ADDRESS, env.TEMPORAL_PROFILE, env.TEMPORAL_CONFIG_FILE].some(Boolean),
    databaseUrl: env.DATABASE_URL,
    objectStoreUrl: env.OBJECT_STORE_URL,
    bundleLinkTtlMs: env.BUNDLE_LINK_TTL,
    /** Undefined: all exports are kept. */
    exportKeep: env.EXPORT_KEEP,
    platformPublicUrl: withoutSlash(env.PLATFORM_PUBLIC_URL),
    /** The receiver's public URL for mails; undefined: they have no unsubscribe link. */
    apiPublicUrl: withoutSlash(env.API_PUBLIC_URL),
    /** Addresses and networks of proxies whose `X-Forwarded-…` headers are believed. */
    trustedProxies: env.TRUSTED_PROXIES,
    /** Signs unsubscribe links; undefined: the Admin API key does. */
    unsubscribeSecret: env.UNSUBSCRIBE_SECRET,
    exportLimits: readExportLimits(env),
    /** Undefined: bundles are unsigned. */
    bundleSigner: env.BUNDLE_SIGNING_KEY,
    agent: agent.settings,
    browser: readBrowserSettings(env, filled.PATH),
    serving: readServingSettings(env),
    /** Undefined: agent jobs can only work on `file://` repositories. */
    forge: forge.settings,
    operatorToken: env.OPERATOR_TOKEN,
    ...readGroups(env),
    adminApiUrl: env.ADMIN_API_URL,
    adminApiKey: env.ADMIN_API_KEY,
    /** Absolute. */
    home: resolve(env.GALLEY_HOME),
    filteredDeliveriesMaxBytes: env.FILTERED_DELIVERIES_MAX_BYTES,
    /** Absolute; undefined: there is no galley.yaml, so there are no sites. */
    configPath: configPath(env.GALLEY_CONFIG),
    /** The first encrypts Temporal's payloads, all decrypt; empty: no encryption. */
    encryptionKeys: env.GALLEY_ENCRYPTION_KEY,
    logLevel: env.LOG_LEVEL,
    minRefreshIntervalMs: env.MIN_REFRESH_INTERVAL,
    /** Record and send traces. */
    traces: env.OTEL_EXPORTER_OTLP_ENDPOINT !== undefined && filled.OTEL_SDK_DISABLED?.toLowerCase() !== 'true',
    /** For `${VAR}` in galley.yaml and for Temporal's and S3's clients, which have their own standard. */
    variables: filled,
  };
}

function parse(variables: Variables): z.infer<typeof schema> {
  const parsed = schema.safeParse(variables);
  if (parsed.success) return parsed.data;
  throw new ConfigurationError(parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`));
}

/** Variables that need each other, with the reason. */
const GROUPS = [
  [['WORKER_DEPLOYMENT', 'WORKER_BUILD_ID'], 'Worker Versioning needs both'],
  [['OIDC_ISSUER', 'OIDC_CLIENT_ID', 'OIDC_CLIENT_SECRET'], 'single sign-on needs all three'],
  [['PLATFORM_SMTP_URL', 'PLATFORM_SMTP_FROM'], "the dashboard's mails need both"],
] as const;

/** What the groups set. */
function readGroups(env: z.infer<typeof schema>) {
  const { WORKER_DEPLOYMENT: deploymentName, WORKER_BUILD_ID: buildId } = env;
  const { OIDC_ISSUER: issuer, OIDC_CLIENT_ID: clientId, OIDC_CLIENT_SECRET: clientSecret } = env;
  const { PLATFORM_SMTP_URL: smtpUrl, PLATFORM_SMTP_FROM: from } = env;
  return {
    /** The mail server for the dashboard's mails; undefined: it shows links instead. */
    platformMail: smtpUrl && from ? { url: smtpUrl, from } : undefined,
    /** Single sign-on for the platform's dashboard. */
    openId: issuer && clientId && clientSecret ? { issuer, clientId, clientSecret } : undefined,
    /** Temporal's Worker Versioning needs it; undefined: workers poll their queue unversioned. */
    workerVersion: deploymentName && buildId ? { deploymentName, buildId } : undefined,
  };
}

/** A problem for each group of which only a part is set. */
function incompleteGroups(env: z.infer<typeof schema>): string[] {
  return GROUPS.flatMap(([names, because]) => {
    const missing = names.filter((name) => env[name] === undefined);
    const isPartial = missing.length > 0 && missing.length < names.length;
    return isPartial ? [`${missing.join(', ')}: expected too, because ${because}`] : [];
  });
}

/** A link must not outlive its bundle. */
function deadLinks({ EXPORT_KEEP: keep, BUNDLE_LINK_TTL: ttlMs }: z.infer<typeof schema>): string[] {
  if (keep === undefined || keep.linkedWithinMs >= ttlMs) return [];
  return [`EXPORT_KEEP: expected a duration of at least BUNDLE_LINK_TTL (${formatDurationMs(ttlMs)})`];
}

/** Removes slashes at the end, so that paths can be appended. */
function withoutSlash(url: string | undefined): string | undefined {
  return url?.replace(/\/+$/, '');
}

/** The configuration file's name in the working folder. */
export const DEFAULT_CONFIG = 'galley.yaml';

/** A configured path must exist, which its reader checks; the default one may be missing. */
function configPath(asked: string | undefined): string | undefined {
  if (asked !== undefined) return resolve(asked);
  return existsSync(DEFAULT_CONFIG) ? resolve(DEFAULT_CONFIG) : undefined;
}
