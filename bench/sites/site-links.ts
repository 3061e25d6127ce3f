import type { RunningAdminApi } from '../../test/helpers/admin-api/fake-admin-api.ts';

/** The links of one site so far. */
export interface SiteLinks {
  count: number;
  /** The newest one. */
  url: string;
  /** When the newest one expires (milliseconds since 1970). */
  expiresAtMs: number;
  /** Links that expired before the site requested the next one. */
  endedBefore: number;
}

export function siteLinks(adminApi: RunningAdminApi, site: string): SiteLinks {
  const links = adminApi.links(domainOf(site));
  const { url = '', expiresAtMs = 0 } = links.at(-1) ?? {};
  const ended = links.filter((link, index) => link.expiresAtMs < (links[index + 1]?.givenAtMs ?? 0));
  return { count: links.length, url, expiresAtMs, endedBefore: ended.length };
}

/** The domain that configureOrchestrator() sets. */
export function domainOf(site: string): string {
  return `${site}.example.com`;
}
