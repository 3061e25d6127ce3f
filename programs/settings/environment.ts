import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { z } from 'zod';
import { adminApiKey, adminApiUrl } from '../../contract/admin-api.ts';
import { ConfigurationError } from '../../contract/configuration-error.ts';
import { positiveDurationMs } from '../../contract/duration.ts';
import { httpUrl } from '../../contract/http-url.ts';
import type { BundleSigner } from '../../contract/signing.ts';
import type { WorkerVersion } from '../../contract/worker-options.ts';
import type { ExportLimits } from '../../exporter/limits.ts';
import type { OpenIdSettings } from '../../platform/dashboard/auth-settings.ts';
import { type AgentSettings, agentVariables, readAgentSettings } from './agent.ts';
import {
  type BrowserSettings,
  browserVariables,
  exportVariables,
  type ForgeSettings,
  forgeVariables,
  readBrowserSettings,
  readExportLimits,
  readForgeSettings,
  readOpenId,
  readPlatformMail,
} from './platform.ts';
import { readServingSettings, type ServingSettings, servingVariables } from './serving.ts';

/** The process's variables. Only this file and its callees read them. */
export type Variables = Readonly<Record<string, string | undefined>>;

const HOUR_MS = 3_600_000;

const port = z
  .string()
  .regex(/^\d+$/, 'expected a port number, 0 for a free one')
  .transform(Number)
  .refine((value) => value <= 65_535, 'expected a port number up to 65535');

/** The first encrypts, all decrypt. */
const encryptionKeys = z.string().transform((text, context) => {
  const keys = text.split(',').map((entry) => Buffer.from(entry.trim(), 'base64'));
  for (const [index, key] of keys.entries()) {
    if (key.length === 32) continue;
    const where = keys.length === 1 ? '' : `entry ${index + 1} of ${keys.length}: `;
    const message = `${where}expected 32 bytes in base64, as \`openssl rand -base64 32\` prints them`;
    context.addIssue({ code: 'custom', message });
  }
  return keys;
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
  PLATFORM_PUBLIC_URL: httpUrl.optional(),
  API_PUBLIC_URL: httpUrl.optional(),
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

export interface Settings {
  host: string;
  port: number;
  platformPort: number;
  deploymentPort: number;
  temporalPort: number;
  temporalUiPort: number;
  /** The port of the workers' metrics and probes; undefined: there are none. */
  metricsPort: number | undefined;
  /** Requested by each successful check of the watchdog. */
  heartbeatUrl: string | undefined;
  /** The URL of Temporal's UI, for links; if undefined, only the embedded Temporal has links. */
  temporalUiUrl: string | undefined;
  /** False: no Temporal service is configured, so `up` starts its own. */
  temporalConfigured: boolean;
  databaseUrl: string | undefined;
  objectStoreUrl: string | undefined;
  bundleLinkTtlMs: number;
  platformPublicUrl: string | undefined;
  /** The receiver's public URL for mails; undefined: they have no unsubscribe link. */
  apiPublicUrl: string | undefined;
  /** Signs unsubscribe links; undefined: the Admin API key does. */
  unsubscribeSecret: string | undefined;
  /** The export limits that differ from the defaults. */
  exportLimits: Partial<ExportLimits>;
  /** Undefined: bundles are unsigned. */
  bundleSigner: BundleSigner | undefined;
  agent: AgentSettings;
  browser: BrowserSettings;
  serving: ServingSettings;
  /** Undefined: agent jobs can only work on `file://` repositories. */
  forge: ForgeSettings | undefined;
  operatorToken: string | undefined;
  /** The mail server for the dashboard's mails; undefined: it shows links instead. */
  platformMail: { url: string; from: string } | undefined;
  /** Single sign-on for the platform's dashboard. */
  openId: OpenIdSettings | undefined;
  adminApiUrl: string | undefined;
  adminApiKey: string | undefined;
  /** Absolute. */
  home: string;
  /** Absolute; undefined: there is no galley.yaml, so there are no sites. */
  configPath: string | undefined;
  /** The first encrypts Temporal's payloads, all decrypt; empty: no encryption. */
  encryptionKeys: readonly Buffer[];
  logLevel: (typeof LOG_LEVELS)[number];
  minRefreshIntervalMs: number;
  /** Record and send traces. */
  traces: boolean;
  /** Temporal's Worker Versioning needs it; undefined: workers poll their queue unversioned. */
  workerVersion: WorkerVersion | undefined;
  /**
   * The unchanged environment, for `${VAR}` in galley.yaml and for Temporal's and S3's clients, which have their own
   * standard.
   */
  variables: Variables;
}

/**
 * Reads and validates all variables once, at start. An empty variable counts as unset.
 * @throws ConfigurationError naming each variable and what was expected.
 */
export function readSettings(variables: Variables = process.env): Settings {
  const filled = Object.fromEntries(
    Object.entries(variables).filter(([, value]) => value !== undefined && value !== ''),
  );
  const parsed = schema.safeParse(filled);
  if (!parsed.success)
    throw new ConfigurationError(parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`));
  const env = parsed.data;
  const agent = readAgentSettings(env);
  const forge = readForgeSettings(env);
  const version = readWorkerVersion(env);
  const openId = readOpenId(env);
  const mail = readPlatformMail(env);
  const problems = [...agent.problems, ...forge.problems, ...version.problems, ...openId.problems, ...mail.problems];
  if (problems.length > 0) throw new ConfigurationError(problems);
  return {
    host: env.HOST,
    port: env.PORT,
    platformPort: env.PLATFORM_PORT,
    deploymentPort: env.DEPLOYMENT_PORT,
    temporalPort: env.TEMPORAL_PORT,
    temporalUiPort: env.TEMPORAL_UI_PORT,
    temporalUiUrl: withoutSlash(env.TEMPORAL_UI_URL),
    metricsPort: env.METRICS_PORT,
    heartbeatUrl: env.HEARTBEAT_URL,
    temporalConfigured: [env.TEMPORAL_ADDRESS, env.TEMPORAL_PROFILE, env.TEMPORAL_CONFIG_FILE].some(Boolean),
    databaseUrl: env.DATABASE_URL,
    objectStoreUrl: env.OBJECT_STORE_URL,
    bundleLinkTtlMs: env.BUNDLE_LINK_TTL,
    platformPublicUrl: withoutSlash(env.PLATFORM_PUBLIC_URL),
    apiPublicUrl: withoutSlash(env.API_PUBLIC_URL),
    unsubscribeSecret: env.UNSUBSCRIBE_SECRET,
    exportLimits: readExportLimits(env),
    bundleSigner: env.BUNDLE_SIGNING_KEY,
    agent: agent.settings,
    browser: readBrowserSettings(env, filled.PATH),
    serving: readServingSettings(env),
    forge: forge.settings,
    operatorToken: env.OPERATOR_TOKEN,
    platformMail: mail.settings,
    openId: openId.settings,
    adminApiUrl: env.ADMIN_API_URL,
    adminApiKey: env.ADMIN_API_KEY,
    home: resolve(env.GALLEY_HOME),
    configPath: configPath(env.GALLEY_CONFIG),
    encryptionKeys: env.GALLEY_ENCRYPTION_KEY,
    logLevel: env.LOG_LEVEL,
    minRefreshIntervalMs: env.MIN_REFRESH_INTERVAL,
    traces: env.OTEL_EXPORTER_OTLP_ENDPOINT !== undefined && filled.OTEL_SDK_DISABLED?.toLowerCase() !== 'true',
    workerVersion: version.version,
    variables: filled,
  };
}

type VersionVariables = { WORKER_DEPLOYMENT?: string | undefined; WORKER_BUILD_ID?: string | undefined };

function readWorkerVersion({ WORKER_DEPLOYMENT: deploymentName, WORKER_BUILD_ID: buildId }: VersionVariables) {
  if (deploymentName !== undefined && buildId !== undefined) {
    return { version: { deploymentName, buildId }, problems: [] };
  }
  const missing = deploymentName === undefined ? 'WORKER_DEPLOYMENT' : 'WORKER_BUILD_ID';
  const alone = deploymentName !== undefined || buildId !== undefined;
  const problems = alone ? [`${missing}: expected too, because Worker Versioning needs both`] : [];
  return { version: undefined, problems };
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
