import { sourceNamed } from '../../api/webhooks/registry.ts';
import type { WebhookSource } from '../../api/webhooks/source.ts';
import { ConfigurationError } from '../../contract/configuration-error.ts';
import type { WebhookSettings } from '../../contract/webhook-settings.ts';
import { loadGalleyConfig, type Sections } from '../../programs/config/galley-yaml.ts';
import type { Settings } from '../../programs/settings/environment.ts';
import { UsageError } from '../command-error.ts';
import { insteadOf } from '../sites/configured-sites.ts';

export interface ConfiguredWebhook {
  site: string;
  /** The name of the source. */
  source: string;
  domain: string;
  /** The newest secret, which is the first of a list. */
  secret: string;
  settings: WebhookSettings;
  /** Makes and signs deliveries. */
  sender: WebhookSource;
}

/** The configuration needs an Admin API, but signing doesn't call it. */
const ADMIN_API = { url: 'http://127.0.0.1', key: 'not-called' };

/**
 * Reads one source of one site from galley.yaml. Only the variables in that section must be set.
 * @throws UsageError if galley.yaml has no such site or source; ConfigurationError if the section is wrong.
 */
export async function configuredWebhook(
  { configPath, variables }: Pick<Settings, 'configPath' | 'variables'>,
  site: string,
  source: string,
): Promise<ConfiguredWebhook> {
  if (configPath === undefined)
    throw new ConfigurationError(['GALLEY_CONFIG: expected the path of galley.yaml (there is none in this folder)']);
  const select = (sections: Sections): Sections => onlySource(sections, { site, source, configPath });
  const { sites } = await loadGalleyConfig({ path: configPath, env: variables, select });
  const found = sites[site];
  const settings = found?.webhooks[source];
  const secret = [settings?.secret ?? []].flat()[0];
  if (found === undefined || settings === undefined || secret === undefined)
    throw new UsageError(`galley.yaml has no secret for sites.${site}.webhooks.${source}`);
  return { site, source, domain: found.domain, secret, settings, sender: sourceNamed(source) };
}

function onlySource(
  sections: Sections,
  { site, source, configPath }: { site: string; source: string; configPath: string },
): Sections {
  const sites = mapping(sections.sites);
  if (!Object.hasOwn(sites, site))
    throw new UsageError(`galley.yaml has no site ${site}; ${configPath} has ${insteadOf(site, Object.keys(sites))}`);
  const { domain, webhooks: written } = mapping(sites[site]);
  const webhooks = mapping(written);
  if (!Object.hasOwn(webhooks, source)) {
    const instead = insteadOf(source, Object.keys(webhooks));
    throw new UsageError(`site ${site} has no webhook of ${source}; ${configPath} has ${instead}`);
  }
  const section = { domain, webhooks: { [source]: webhooks[source] } };
  return { adminApi: ADMIN_API, sites: { [site]: section } };
}

function mapping(value: unknown): Sections {
  return typeof value === 'object' && value !== null ? Object.fromEntries(Object.entries(value)) : {};
}
