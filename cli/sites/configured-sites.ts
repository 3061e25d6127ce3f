import { existsSync, readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { z } from 'zod';
import { closest } from '../../contract/closest-word.ts';
import { configFile } from '../../programs/settings/env-file.ts';
import { UsageError } from '../command-error.ts';

/** The argument of every command about one site. */
export const SITE_ARGUMENT = ['[site]', 'the name of the site; not needed if galley.yaml has one site'] as const;

/** Only names matter, so a file with mistakes will do. */
const named = z.object({
  sites: z.record(
    z.string(),
    z
      .object({
        webhooks: z.record(z.string(), z.unknown()).catch({}),
        export: z
          .object({ deployments: z.array(z.object({ name: z.string().optional() })) })
          .catch({ deployments: [] }),
      })
      .catch({ webhooks: {}, export: { deployments: [] } }),
  ),
});
export type NamedSites = z.infer<typeof named>['sites'];

/** The sites of galley.yaml, with the names in them; none without a readable file. */
export function configuredSites(): NamedSites {
  try {
    const file = configFile();
    if (!existsSync(file)) return {};
    return named.parse(parse(readFileSync(file, 'utf8'), { logLevel: 'silent' })).sites;
  } catch {
    return {};
  }
}

/**
 * The arguments of a command whose first is SITE, which may be left out if galley.yaml has one site. `others` names those
 * that follow; an optional one ends with `?`.
 * @throws UsageError if the site or another argument is missing
 */
export function siteFirst(
  given: readonly (string | undefined)[],
  others: readonly string[] = [],
): [string, ...string[]] {
  const words = given.filter((each) => each !== undefined);
  const sites = Object.keys(configuredSites());
  const only = sites.length === 1 ? sites[0] : undefined;
  const namesSite = only === undefined || words[0] === only || words.length > others.length;
  const [site, ...rest] = namesSite ? words : [only, ...words];
  const missing = others[rest.length];
  const isMissing = missing !== undefined && !missing.endsWith('?');
  if (site === undefined || (isMissing && sites.length > 1 && !sites.includes(site)))
    throw new UsageError(missingSite(sites));
  if (isMissing) throw new UsageError(`${missing}: expected it after the site ${site}; see --help`);
  return [site, ...rest];
}

function missingSite(sites: readonly string[]): string {
  const expected = 'SITE: expected the name of a site';
  return sites.length === 0
    ? `${expected}: there is no galley.yaml with sites in this folder (galley init writes one)`
    : `${expected}; galley.yaml has ${sites.join(', ')}`;
}

/** Says what there is instead of a name that doesn't exist, and which one was meant. */
export function insteadOf(given: string, names: readonly string[]): string {
  const near = closest(given, names);
  return `${names.length === 0 ? 'none' : names.join(', ')}${near === undefined ? '' : `. Did you mean ${near}?`}`;
}
