import type { Logger } from 'pino';
import { askStatus } from '../../activities/deployments/ask-status.ts';
import { findChanges } from '../../api/find-changes.ts';
import { deploymentUrl } from '../../contract/deployment-config.ts';
import type { GalleyConfig } from '../../contract/galley-config.ts';
import type { SitesPage } from '../../platform/dashboard/sites-page.tsx';
import { type Counterpart, REDIRECT_MS, type SignInLinks } from '../../web/sign-in-links.ts';
import { workflowUrl } from '../../web/temporal-ui.ts';
import type { Temporal } from '../temporal/temporal.ts';
import type { ChosenTemporal } from './choose-temporal.ts';

type Sites = GalleyConfig['sites'];

/** As long as a page may wait for what it can also show without. */
const LOOKUP_MS = 1_500;

type Found = Pick<ChosenTemporal, 'temporal' | 'searchAttributes'> & {
  /** Temporal's UI. */
  uiUrl: string | undefined;
  links: { sites: SignInLinks; dashboard: SignInLinks };
  logger: Logger;
};

/** What is known only once more has started than the platform. */
type Later = { sites: () => Sites; apiUrl: () => string };

/** What the dashboard knows about the orchestrator of the same `galley up`. */
export function sitesPageOf(found: Found, { sites, apiUrl }: Later): Omit<SitesPage, 'organizationId'> {
  return {
    open: linksTo(found.links.sites, () => `${apiUrl()}/ui/sign-in`),
    links: found.links.dashboard,
    siteOf: (domain) => findSite(sites(), domain)?.[0],
    changeOf: (site, prLink) => findChange(found, site, prLink),
    servedAt: (domain, jobId) => askWhoServes(findSite(sites(), domain)?.[1], jobId),
    temporal: temporalUi(found.uiUrl, found.temporal),
  };
}

/** Links to a page that signs in. */
export function linksTo({ create }: SignInLinks, page: () => string): Counterpart['open'] {
  return (to, person) => `${page()}?${new URLSearchParams({ link: create(person, REDIRECT_MS), to })}`;
}

function temporalUi(url: string | undefined, { namespace }: Temporal): SitesPage['temporal'] {
  return url === undefined ? undefined : { url, workflowUrl: (id) => workflowUrl(url, namespace, id) };
}

/** The name and the settings of the site with a domain. */
function findSite(sites: Sites, domain: string): [string, Sites[string]] | undefined {
  return Object.entries(sites).find(([, site]) => site.domain === domain);
}

/** The page that asks shows the rest also without Temporal. */
async function findChange(
  { temporal: { client }, searchAttributes, logger }: Found,
  site: string,
  prLink: string,
): Promise<string | undefined> {
  try {
    const lookup = { client, byAttribute: searchAttributes.ready(), ended: true };
    const [change] = await client.withDeadline(Date.now() + LOOKUP_MS, () => findChanges(lookup, site, prLink));
    return change;
  } catch (error) {
    logger.warn({ err: error, site }, 'The change of a pull request could not be looked up');
    return undefined;
  }
}

/** The URLs of the deployments that say that they serve a job. */
async function askWhoServes(site: Sites[string] | undefined, jobId: string): Promise<string[]> {
  const asked = (site?.export.deployments ?? []).map(async (each) => {
    const [statusUrl] = [each.statusUrl ?? []].flat();
    const url = deploymentUrl(each);
    if (statusUrl === undefined || url === null) return [];
    const { is } = await askStatus(statusUrl, { jobId, version: null, bundlePath: null });
    return is === 'served' ? [url] : [];
  });
  return (await Promise.all(asked)).flat();
}
