import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { sources } from '../../api/webhooks/registry.ts';
import { adminApiKey, adminApiUrl, domainName, opaqueId, siteOrigin } from '../../contract/admin-api.ts';
import { siteName } from '../../contract/galley-config.ts';
import { httpUrl } from '../../contract/http-url.ts';

/** What `galley init` needs to know. */
export interface Answers {
  site: string;
  domain: string;
  /** Undefined: the site is served at its domain. */
  origin: string | undefined;
  source: string;
  /** Undefined: `.env` has one, or one is made. */
  secret: string | undefined;
  /** The path as written in galley.yaml: relative to its folder, or absolute. */
  valuesFile: string;
  /** Undefined: `galley up` runs its own. */
  adminApi: { url: string; key: string; projectId: string | undefined } | undefined;
  /** Undefined: `galley up` runs its own. */
  temporal: { address: string; namespace: string; apiKey: string | undefined } | undefined;
  /** The receiver's URL as the CMS reaches it; undefined: this machine's. */
  publicUrl: string | undefined;
  /** Only for docker-compose.yml: this machine, as deployments elsewhere reach it. Undefined: its address. */
  publicHost: string | undefined;
}

const THIS_MACHINE = /^(?:localhost|.+\.localhost|127(?:\.\d+){3}|\[::1\])$/;

/** A site's domain, and its server if that is elsewhere. */
export type Address = { domain?: string | undefined; origin?: string | undefined };

/**
 * The address of a site as people write it: `docs.example.com`, `localhost:8080`, or the URL of one of its pages, which
 * stands for the whole site. A server on this machine has no domain.
 */
export const address = z.string().transform((text, context): Address => {
  const trimmed = text.trim();
  const isLocal = THIS_MACHINE.test(/^(\[[^\]]*\]|[^/:?#]*)/.exec(trimmed.toLowerCase())?.[0] ?? '');
  const written = /^https?:\/\//i.test(trimmed) ? trimmed : `${isLocal ? 'http' : 'https'}://${trimmed}`;
  const url = URL.canParse(written) ? new URL(written) : undefined;
  if (url !== undefined && url.username === '') {
    if (THIS_MACHINE.test(url.hostname)) return { origin: url.origin };
    const domain = domainName.safeParse(url.hostname);
    if (domain.success) return { domain: domain.data, ...(url.port !== '' && { origin: url.origin }) };
  }
  context.addIssue('expected a domain or a URL, such as docs.example.com or http://127.0.0.1:8080');
  return z.NEVER;
});

/** A single answer as text: the parsed value, or what was expected. */
export const ANSWER = {
  site: siteName,
  domain: domainName,
  origin: siteOrigin,
  source: z.string().refine((name) => sourceNames().includes(name), {
    error: () => `expected one of ${sourceNames().join(', ')}`,
  }),
  secret: z
    .string()
    .min(1, 'expected the secret')
    .regex(/^[^\r\n\0]*$/, 'expected one line'),
  valuesFile: z
    .string()
    .trim()
    .min(1, 'expected a path')
    .regex(/^\P{Cc}*$/u, 'expected a path in one line'),
  adminApiUrl,
  adminApiKey: adminApiKey.min(1, 'expected the key'),
  projectId: opaqueId,
  temporalAddress: z.string().regex(/^[^\s:]+:\d{1,5}$|^\[[\da-fA-F:]+\]:\d{1,5}$/, 'expected host:port'),
  temporalNamespace: z.string().regex(/^[\w.-]{1,255}$/, 'expected the name of a namespace'),
  publicUrl: httpUrl.transform((text) => text.replace(/\/+$/, '')),
  publicHost: z.string().regex(/^[\w.-]{1,253}$|^\[[\da-fA-F:]+\]$/, 'expected a name or an address, without a port'),
} as const;

/** The sources that need no setting besides the secret; the others are set up by hand. */
export function sourceNames(): string[] {
  const isEnough = ({ settings }: { settings: z.ZodType }): boolean =>
    settings.safeParse({ secret: 'c2VjcmV0' }).success;
  return [...sources].filter(([, source]) => isEnough(source)).map(([name]) => name);
}

/** The variable of `.env` that `init` uses for a source's secret. */
export function secretVariable(source: string): string {
  return `${source.toUpperCase()}${source === 'github' ? '_WEBHOOK' : ''}_SECRET`;
}

/** A secret to enter in the CMS. 64 hex digits have the length that Contentful requires. */
export function newSecret(source: string): string {
  return source === 'standard' ? `whsec_${randomBytes(32).toString('base64')}` : randomBytes(32).toString('hex');
}

/** Whether the source accepts the secret; otherwise what it expected. */
export function secretProblem(source: string, secret: string): string | undefined {
  const parsed = sources.get(source)?.settings.safeParse({ secret });
  return parsed?.error?.issues[0]?.message;
}
