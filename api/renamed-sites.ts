import type { RequestHandler } from 'express';
import { type GalleyConfig, siteNamed } from '../contract/galley-config.ts';
import { SITE_NAME } from '../contract/names.ts';
import { unavailable } from './unavailable.ts';

/** Requests for unknown sites cause at most one listing in this time, however many names they try. */
const FRESH_FOR_MS = 5_000;

type RenamedSitesDeps = {
  config: GalleyConfig;
  /** The present name of each renamed site, by its old name. */
  list: () => Promise<ReadonlyMap<string, string>>;
  now: () => Date;
};

/** The old names of sites, whose webhooks are accepted for 30 days. A site of galley.yaml is never an old name. */
export type RenamedSites = {
  /** The configured site that had this name; undefined if none had. Throws HttpError 503 if Temporal can't be reached. */
  find: (name: string) => Promise<string | undefined>;
  /** The old names of a configured site. Throws the same. */
  oldNames: (site: string) => Promise<string[]>;
  /** Lists them anew, because a site was just renamed. */
  expire: () => void;
};

export function createRenamedSites({ config, list, now }: RenamedSitesDeps): RenamedSites {
  let listing: Promise<ReadonlyMap<string, string>> = Promise.resolve(new Map());
  let listedAtMs = Number.NEGATIVE_INFINITY;

  function read(): Promise<ReadonlyMap<string, string>> {
    const nowMs = now().getTime();
    if (nowMs - listedAtMs >= FRESH_FOR_MS) {
      listedAtMs = nowMs;
      listing = list().catch(() => {
        throw unavailable('Temporal can not be reached');
      });
    }
    return listing;
  }

  /** A site may have been renamed several times, and back. */
  function follow(names: ReadonlyMap<string, string>, name: string): string | undefined {
    const seen = new Set<string>();
    for (let next: string | undefined = name; next !== undefined && !seen.has(next); next = names.get(next)) {
      if (siteNamed(config, next) !== undefined) return next;
      seen.add(next);
    }
    return undefined;
  }

  return {
    async find(name) {
      return SITE_NAME.test(name) ? follow(await read(), name) : undefined;
    },
    async oldNames(site) {
      const names = await read();
      return [...names.keys()].filter((name) => name !== site && follow(names, name) === site);
    },
    expire() {
      listedAtMs = Number.NEGATIVE_INFINITY;
    },
  };
}

/** Passes webhooks of an old name on as webhooks of the site. Signatures are still verified over the original URL. */
export function acceptOldNames(config: GalleyConfig, { find }: Pick<RenamedSites, 'find'>): RequestHandler {
  return async (request, _response, next) => {
    const [, name = ''] = request.url.split(/[/?]/);
    if (siteNamed(config, name) === undefined) {
      const site = await find(name);
      if (site !== undefined) request.url = request.url.replace(name, site);
    }
    next();
  };
}
