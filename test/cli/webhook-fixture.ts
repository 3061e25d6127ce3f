import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { galleyConfig } from '../../contract/galley-config.ts';
import { type WebhookSourceName, webhookSources } from '../../contract/webhook-sources.ts';

/** The newest secret of every source, as `galley webhook send` must sign with it. */
export const NEWEST = 'newest-secret-0123456789-01234589-0123456789-0123456789-01234567';
export const OLDEST = 'oldest-secret-0123456789-01234589-0123456789-0123456789-01234567';

export const ALL_SOURCES: readonly WebhookSourceName[] = webhookSources.keyof().options;

const standardSecret = (text: string): string => `whsec_${Buffer.from(text).toString('base64')}`;

/** What a source's section needs beside its secret. */
const MORE: Partial<Record<WebhookSourceName, object>> = {
  standard: { secret: [standardSecret(NEWEST), standardSecret(OLDEST)] },
  github: { branch: 'release' },
  hmac: { header: 'X-Signature', algorithm: 'sha512', prefix: 'v0=', timestampHeader: 'X-Time', idHeader: 'X-Id' },
  strapi: { header: 'X-Strapi-Token' },
};

export const webhooksOfAll = Object.fromEntries(
  ALL_SOURCES.map((source) => [source, { secret: [NEWEST, OLDEST], ...MORE[source] }]),
);

export type ConfigFile = {
  folder: string;
  path: string;
  config: ReturnType<typeof galleyConfig.parse>;
  remove: () => Promise<void>;
};

/** A galley.yaml in a folder of its own, with the configuration that a receiver started on it has. */
export async function writeConfig(sites: Record<string, { webhooks: object }>): Promise<ConfigFile> {
  const folder = await mkdtemp(join(tmpdir(), 'galley-webhook-'));
  const path = join(folder, 'galley.yaml');
  const text = {
    sites: Object.fromEntries(
      Object.entries(sites).map(([name, site]) => [name, { domain: `${name}.example.com`, ...site }]),
    ),
  };
  await writeFile(path, stringify(text));
  const config = galleyConfig.parse({ adminApi: { url: 'http://127.0.0.1:1', key: 'unused' }, ...text });
  return { folder, path, config, remove: () => rm(folder, { recursive: true }) };
}
