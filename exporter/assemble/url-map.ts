import type { MappedUrl } from '../crawl-records.ts';
import type { Target } from '../document/types.ts';
import { type JobCache, placeForReading } from '../job-cache.ts';
import type { CrawlStore } from '../ports.ts';
import type { Resource } from '../urls/identity.ts';

/** Up to this many URLs a job's whole map is kept in memory instead of being queried batch by batch. */
const MAX_WHOLE_MAP = 50_000;

export type UrlMap = ReadonlyMap<string, Target>;

function targetOfRow(row: MappedUrl): Target | undefined {
  if (row.outcome === 'missing') return { missing: true };
  if (row.path !== null) return row.fragment === null ? { path: row.path } : { path: row.path, fragment: row.fragment };
  return row.redirectTo === null ? undefined : { absolute: row.redirectTo };
}

/** The target of a resource. URLs that aren't in the map (skipped, not requested, kept as links) don't change. */
export function targetIn(map: UrlMap, resource: Resource): Target {
  return map.get(resource.url) ?? { absolute: resource.url };
}

async function collect(pieces: AsyncIterable<MappedUrl[]>): Promise<UrlMap> {
  const map = new Map<string, Target>();
  for await (const rows of pieces) {
    for (const row of rows) {
      const target = targetOfRow(row);
      if (target !== undefined) map.set(row.url, target);
    }
  }
  return map;
}

export type UrlMaps = {
  /** The job's frozen map, at least for these URLs. */
  forUrls(job: { jobId: string; urlCount: number }, urls: () => Iterable<string>): Promise<UrlMap>;
};

/** Reads frozen maps; small ones completely and once per job. */
export function createUrlMaps(store: CrawlStore, jobCache: JobCache): UrlMaps {
  const whole = placeForReading<UrlMap>(jobCache);

  return {
    forUrls: ({ jobId, urlCount }, urls) =>
      urlCount <= MAX_WHOLE_MAP
        ? whole(jobId)(() => collect(store.mappedUrls(jobId)))
        : collect(store.mappedUrls(jobId, [...new Set(urls())])),
  };
}
