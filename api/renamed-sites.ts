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
  /** A site was just renamed: Temporal may list it later. */
  add: (site: string, to: string) => void;
};

export function createRenamedSites({ config, list, now }: RenamedSitesDeps): RenamedSites {
  let listing: Promise<ReadonlyMap<string, string>> = Promise.resolve(new Map());
  const added = new Map<string, string>();
  let listedAtMs = Number.NEGATIVE_INFINITY;

  async function read(): Promise<ReadonlyMap<string, string>> {
    const nowMs = now().getTime();
    if (nowMs - listedAtMs >= FRESH_FOR_MS) {
      listedAtMs = nowMs;
      listing = list();
    }
    const listed = await listing.catch(() => {
      throw unavailable('Temporal can not be reached');
    });
    for (const site of listed.keys()) added.delete(site);
    return new Map([...listed, ...added]);
  }

  /** A site may have been renamed several times, and back. */
  function later(names: ReadonlyMap<string, string>, name: string): string[] {
    const seen = new Set<string>();
    for (let next = names.get(name); next !== undefined && !seen.has(next); next = names.get(next)) seen.add(next);
    return [...seen];
  }

  return {
    async find(name) {
      if (!SITE_NAME.test(name)) return undefined;
      return [name, ...later(await read(), name)].find((next) => siteNamed(config, next) !== undefined);
    },
    async oldNames(site) {
      const names = await read();
      return [...names.keys()].filter((name) => name !== site && later(names, name).includes(site));
    },
    add(site, to) {
      added.set(site, to);
    },
  };
}

/** Passes webhooks of an old name on as webhooks of the site. Signatures are still verified over the original URL. */
export function acceptOldNames(config: GalleyConfig, renamed: Pick<RenamedSites, 'find'>): RequestHandler {
  return async (request, _response, next) => {
    const [, name = ''] = request.url.split(/[/?]/);
    if (siteNamed(config, name) === undefined) {
      const site = await renamed.find(name);
      if (site !== undefined) request.url = request.url.replace(name, site);
    }
    next();
  };
}
