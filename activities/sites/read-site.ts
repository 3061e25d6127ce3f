import type { SiteConfig } from '../../contract/galley-config.ts';
import { notConfigured } from '../not-configured.ts';

/** Reads a site's section of this worker's galley.yaml; undefined if there is none. */
export type ReadSite = (site: string) => SiteConfig | undefined | Promise<SiteConfig | undefined>;

type ConfiguredRule = { site: SiteConfig; rule: SiteConfig['agent'][number] };

/**
 * Finds an agent rule and its site. Throws `NotConfigured` (not-configured.ts).
 * @param operators who gets a mail while no worker knows the rule
 */
export async function findRule(
  readSite: ReadSite,
  names: { site: string; rule: string },
  operators: readonly string[] = [],
): Promise<ConfiguredRule> {
  const site = await readSite(names.site);
  const rule = site?.agent.find(({ name }) => name === names.rule);
  if (site !== undefined && rule !== undefined) return { site, rule };
  throw notConfigured(`the rule ${names.rule} of the site ${names.site}`, operators);
}
