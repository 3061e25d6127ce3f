import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { galleyConfig } from '../../programs/config/galley-yaml.ts';
import { vendors } from '../api/sources/vendors.ts';

/** As long as Contentful's verifier requires. */
export const NEWEST = 'newest-secret-0123456789-01234589-0123456789-0123456789-01234567';
export const OLDEST = 'oldest-secret-0123456789-01234589-0123456789-0123456789-01234567';

/** The section of every source, with two secrets: `galley webhook send` must sign with the first. */
export const webhooksOfAll: Readonly<Record<string, object>> = Object.fromEntries(
  vendors.map(({ source, secrets: [newest, oldest], settings }) => [source, { secret: [newest, oldest], ...settings }]),
);

export type ConfigFile = {
  folder: string;
  path: string;
  config: ReturnType<typeof galleyConfig.parse>;
  remove: () => Promise<void>;
};

/** A galley.yaml in a new folder, and its parsed configuration. */
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
