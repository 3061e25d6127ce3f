import type { RequestHandler } from 'express';
import { type GalleyConfig, siteNamed } from '../contract/galley-config.ts';
import { SITE_NAME } from '../contract/names.ts';
import { unavailable } from './unavailable.ts';

/** Requests for unknown sites cause at most one listing in this time, however many names they try. */
const FRESH_FOR_MS = 5_000;

/** The most unknown names that are looked up in that time. Further ones count as unknown. */
const MAX_LOOKUPS = 20;

type RenamedSitesDeps = {
  config: GalleyConfig;
  /** The present name of each renamed site, by its old name. */
  list: () => Promise<ReadonlyMap<string, string>>;
  /** Whether the workflow of a site of this name runs. */
  isRunning: (name: string) => Promise<boolean>;
  now: () => Date;
};

/** The old names of sites, whose webhooks are accepted for 30 days. A site of galley.yaml is never an old name. */
export type RenamedSites = {
  /** The configured site that had this name; undefined if none had. Throws HttpError 503 if Temporal can't be reached. */
  find: (name: string) => Promise<string | undefined>;
  /** The old names of a configured site. Throws the same. */
  oldNames: (site: string) => Promise<string[]>;
  /** Throws HttpError 503 also if a site of this name runs: perhaps it is renamed next, so its sender has to try again. */
  refuseRunning: (name: string) => Promise<void>;
  /** Lists them anew, because a site was just renamed. */
  expire: () => void;
};

export function createRenamedSites({ config, list, isRunning, now }: RenamedSitesDeps): RenamedSites {
  let listing: Promise<ReadonlyMap<string, string>> = Promise.resolve(new Map());
  const running = new Map<string, Promise<boolean>>();
  let listedAtMs = Number.NEGATIVE_INFINITY;

  function read(): Promise<ReadonlyMap<string, string>> {
    const nowMs = now().getTime();
    if (nowMs - listedAtMs >= FRESH_FOR_MS) {
      listedAtMs = nowMs;
      running.clear();
      listing = list().catch(() => {
        throw unavailable('Temporal can not be reached');
      });
    }
    return listing;
  }

  /** A site may have been renamed several times, and back. */
  function later(names: ReadonlyMap<string, string>, name: string): string[] {
    const seen = new Set<string>();
    for (let next = names.get(name); next !== undefined && !seen.has(next); next = names.get(next)) seen.add(next);
    return [...seen];
  }

  async function refuseRunning(name: string): Promise<void> {
    if (!SITE_NAME.test(name)) return;
    if (!running.has(name) && running.size < MAX_LOOKUPS) running.set(name, isRunning(name));
    const runs = await running.get(name)?.catch(() => {
      throw unavailable('Temporal can not be reached');
    });
    if (runs) throw unavailable('this site is not in galley.yaml, but runs');
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
    refuseRunning,
    expire() {
      listedAtMs = Number.NEGATIVE_INFINITY;
    },
  };
}

/** Passes webhooks of an old name on as webhooks of the site. Signatures are still verified over the original URL. */
export function acceptOldNames(config: GalleyConfig, renamed: RenamedSites): RequestHandler {
  return async (request, _response, next) => {
    const [, name = ''] = request.url.split(/[/?]/);
    if (siteNamed(config, name) === undefined) {
      const site = await renamed.find(name);
      if (site === undefined) await renamed.refuseRunning(name);
      else request.url = request.url.replace(name, site);
    }
    next();
  };
}
