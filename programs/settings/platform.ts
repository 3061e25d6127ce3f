import { createPrivateKey } from 'node:crypto';
import { z } from 'zod';
import { ConfigurationError } from '../../contract/configuration-error.ts';
import { parseDurationMs } from '../../contract/duration.ts';
import { type BundleSigner, createSigner, EXPECTED_PRIVATE_KEY } from '../../contract/signing.ts';
import { DEFAULT_LIMITS, type ExportLimits } from '../../exporter/limits.ts';
import { byteSize } from './byte-size.ts';
import type { Settings } from './environment.ts';

/** A private key. Env files often join its lines with a literal \n. */
const privateKey = z
  .string()
  .transform((text) => text.replaceAll('\\n', '\n'))
  .refine(isPrivateKey, 'expected the private key of the app as PEM, with line breaks or \\n');

function isPrivateKey(text: string): boolean {
  try {
    createPrivateKey(text);
    return true;
  } catch {
    return false;
  }
}

/** The variables FORGE_…, one by one; `readForgeSettings` checks their combination. */
export const forgeVariables = {
  FORGE_KIND: z.enum(['github', 'gitea'], { error: 'expected github or gitea' }).optional(),
  FORGE_URL: z.url({ protocol: /^https?$/, error: 'expected an http(s) URL' }).optional(),
  FORGE_TOKEN: z.string().optional(),
  FORGE_APP_ID: z.string().regex(/^\d+$/, 'expected the number of the GitHub App').optional(),
  FORGE_APP_PRIVATE_KEY: privateKey.optional(),
};

type ForgeAuth = { token: string } | { appId: string; privateKey: string };

/** The forge of repositories that aren't `file://`. */
export interface ForgeSettings {
  kind: 'github' | 'gitea';
  /** Absent: github.com. */
  url: string | undefined;
  auth: ForgeAuth;
}

type ForgeVariables = z.infer<z.ZodObject<typeof forgeVariables>>;

/** The settings, undefined without a forge, or one sentence for each variable that conflicts with others. */
export function readForgeSettings(env: ForgeVariables): { settings: ForgeSettings | undefined; problems: string[] } {
  const { FORGE_KIND: kind, FORGE_URL: url } = env;
  const auth = authOf(env);
  const settings = kind === undefined || auth === undefined ? undefined : { kind, url: url?.replace(/\/+$/, ''), auth };
  return { settings, problems: forgeProblems(env) };
}

function authOf({ FORGE_TOKEN, FORGE_APP_ID, FORGE_APP_PRIVATE_KEY }: ForgeVariables): ForgeAuth | undefined {
  if (FORGE_TOKEN !== undefined) return { token: FORGE_TOKEN };
  if (FORGE_APP_ID === undefined || FORGE_APP_PRIVATE_KEY === undefined) return undefined;
  return { appId: FORGE_APP_ID, privateKey: FORGE_APP_PRIVATE_KEY };
}

function forgeProblems(env: ForgeVariables): string[] {
  const { FORGE_KIND, FORGE_URL, FORGE_TOKEN, FORGE_APP_ID, FORGE_APP_PRIVATE_KEY } = env;
  const all = [FORGE_KIND, FORGE_URL, FORGE_TOKEN, FORGE_APP_ID, FORGE_APP_PRIVATE_KEY];
  if (all.every((value) => value === undefined)) return [];
  if (FORGE_KIND === undefined) return ['FORGE_KIND: expected github or gitea beside the other FORGE_ variables'];
  const problems: string[] = [];
  const hasApp = FORGE_APP_ID !== undefined || FORGE_APP_PRIVATE_KEY !== undefined;
  if (FORGE_KIND === 'gitea') {
    if (FORGE_URL === undefined) problems.push('FORGE_URL: expected the URL of your Gitea');
    if (hasApp) problems.push('FORGE_APP_ID: expected FORGE_TOKEN instead; Gitea has no apps');
    else if (FORGE_TOKEN === undefined) problems.push('FORGE_TOKEN: expected an access token of your Gitea');
    return problems;
  }
  if (FORGE_TOKEN !== undefined && hasApp)
    problems.push('FORGE_TOKEN: expected either this or FORGE_APP_ID with FORGE_APP_PRIVATE_KEY, not both');
  if (FORGE_TOKEN === undefined && !hasApp)
    problems.push('FORGE_TOKEN: expected an access token, or FORGE_APP_ID with FORGE_APP_PRIVATE_KEY');
  if (hasApp && FORGE_APP_ID === undefined) problems.push('FORGE_APP_ID: expected beside FORGE_APP_PRIVATE_KEY');
  if (hasApp && FORGE_APP_PRIVATE_KEY === undefined)
    problems.push('FORGE_APP_PRIVATE_KEY: expected beside FORGE_APP_ID');
  return problems;
}

/** The variables CHROMIUM_…, read by the platform's worker and `galley export --prove`. */
export const browserVariables = {
  CHROMIUM_PATH: z.string().optional(),
  CHROMIUM_SANDBOX: z.enum(['on', 'off'], { error: 'expected on or off' }).optional(),
};

type BrowserVariables = z.infer<z.ZodObject<typeof browserVariables>>;

/** The browser for projects with `render: browser` or `discover: browser`. */
export function readBrowserSettings(env: BrowserVariables, path: string | undefined) {
  return {
    /** Undefined: Chromium or Chrome on the PATH. */
    path: env.CHROMIUM_PATH,
    /** Chromium's own sandbox. */
    sandbox: env.CHROMIUM_SANDBOX !== 'off',
    /** Whether a person chose so. */
    isSandboxSet: env.CHROMIUM_SANDBOX !== undefined,
    searchPath: path ?? '',
  };
}

const connections = z
  .string()
  .regex(/^[1-9]\d{0,2}$/, 'expected a number from 1 to 999')
  .transform(Number);

const fileCount = z
  .string()
  .regex(/^[1-9]\d{0,7}$/, 'expected a number from 1 to 99999999')
  .transform(Number);

/** Such as `20,90d`: the newest 20 exports of a project, and those whose link was requested within 90 days. */
export const exportKeep = z.string().transform((text, context) => {
  const [, newest, duration] = /^([1-9]\d{0,5}),(\w+)$/.exec(text.replace(/\s/g, '')) ?? [];
  const linkedWithinMs = duration === undefined ? undefined : parseDurationMs(duration);
  if (linkedWithinMs !== undefined) return { newest: Number(newest), linkedWithinMs };
  const message = 'expected a number of exports and a duration, such as 20,90d';
  context.addIssue({ code: 'custom', message });
  return z.NEVER;
});

const bundleSigner = z.string().transform((text, context): BundleSigner => {
  try {
    return createSigner(text);
  } catch {
    context.addIssue({ code: 'custom', message: EXPECTED_PRIVATE_KEY });
    return z.NEVER;
  }
});

/** The variables EXPORT_… and BUNDLE_SIGNING_KEY, read by the platform's worker and `galley export`. */
export const exportVariables = {
  EXPORT_CONNECTIONS: connections.optional(),
  EXPORT_MAX_FILES: fileCount.optional(),
  EXPORT_MAX_DECODED_BYTES: byteSize.optional(),
  EXPORT_MAX_BYTES: byteSize.optional(),
  BUNDLE_SIGNING_KEY: bundleSigner.optional(),
};

type ExportVariables = z.infer<z.ZodObject<typeof exportVariables>>;

/** The export limits that the variables change. */
export function readExportLimits(env: ExportVariables): Partial<ExportLimits> {
  const { EXPORT_CONNECTIONS, EXPORT_MAX_FILES, EXPORT_MAX_DECODED_BYTES, EXPORT_MAX_BYTES } = env;
  return {
    ...(EXPORT_CONNECTIONS !== undefined && { maxConcurrency: EXPORT_CONNECTIONS }),
    // Every file needs at least one URL.
    ...(EXPORT_MAX_FILES !== undefined && {
      maxFiles: EXPORT_MAX_FILES,
      maxUrls: Math.max(EXPORT_MAX_FILES, DEFAULT_LIMITS.maxUrls),
    }),
    ...(EXPORT_MAX_DECODED_BYTES !== undefined && { maxDecodedBytes: EXPORT_MAX_DECODED_BYTES }),
    ...(EXPORT_MAX_BYTES !== undefined && { maxStoredBytes: EXPORT_MAX_BYTES }),
  };
}

/** @throws ConfigurationError without DATABASE_URL; call it before a program's modules are loaded, which takes seconds. */
export function requireDatabaseUrl({ databaseUrl }: Pick<Settings, 'databaseUrl'>): string {
  if (databaseUrl !== undefined) return databaseUrl;
  throw new ConfigurationError([
    'DATABASE_URL: expected postgres://user:password@host/name (only `galley up` brings a database of its own)',
  ]);
}
