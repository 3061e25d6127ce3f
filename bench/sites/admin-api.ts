import express from 'express';

/** The links that one site got so far. */
export interface SiteLinks {
  count: number;
  /** The newest one. */
  url: string;
  /** When the newest one ends (milliseconds since 1970). */
  expiresAtMs: number;
  /** Links that had ended before the site asked for the next one. */
  endedBefore: number;
}

export interface LinkingAdminApi {
  url: string;
  key: string;
  /** Lifetime of the links given from now on. */
  linkLifetimeMs: number;
  /** A site that never got a link has none. */
  links(site: string): SiteLinks;
  /** Gives the site its next link, as a request does. */
  giveLink(site: string): SiteLinks;
  close(): Promise<void>;
}

/**
 * The static export endpoints of an Admin API that responds immediately: each site has one job, which is completed when
 * it is started. Counts the links of each site.
 * @param siteOf the site of a domain
 */
export async function startLinkingAdminApi(siteOf: (domain: string) => string): Promise<LinkingAdminApi> {
  const sites = new Map<string, SiteLinks>();
  const createdAt = new Date().toISOString();
  const app = express();

  const job = (jobId: string): object => ({ jobId, status: 'completed', progress: 100, version: 'v1', createdAt });
  app.post('/v1/static-export/jobs', express.json(), ({ body }, response) => {
    response.status(202).json(job(siteOf(body.domain)));
  });
  app.get('/v1/static-export/jobs/:id', ({ params }, response) => void response.json(job(params.id)));
  app.post('/v1/static-export/jobs/:id/bundle', ({ params }, response) => {
    const { url, expiresAtMs } = giveLink(params.id);
    const expiresAt = new Date(expiresAtMs).toISOString();
    response.json({ jobId: params.id, bundleUrl: url, expiresAt, version: 'v1' });
  });

  function giveLink(site: string): SiteLinks {
    const nowMs = Date.now();
    const before = linksOf(site);
    const count = before.count + 1;
    const links = {
      count,
      url: `http://127.0.0.1/${site}/${count}/bundle.tar.gz`,
      expiresAtMs: nowMs + api.linkLifetimeMs,
      endedBefore: before.endedBefore + (before.count > 0 && before.expiresAtMs < nowMs ? 1 : 0),
    };
    sites.set(site, links);
    return links;
  }

  function linksOf(site: string): SiteLinks {
    return sites.get(site) ?? { count: 0, url: '', expiresAtMs: 0, endedBefore: 0 };
  }

  const server = app.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const api: LinkingAdminApi = {
    url: `http://127.0.0.1:${port}`,
    key: 'galley_bench',
    linkLifetimeMs: 0,
    links: linksOf,
    giveLink,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return api;
}
