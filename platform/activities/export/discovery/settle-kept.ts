import { type FoundUrl, type LeasedUrl, settleUrls } from '../../../store/frontier.ts';
import type { Admission } from '../crawl/admission.ts';
import { placeFiles } from '../crawl/segment.ts';
import { visit } from '../crawl/visit.ts';
import type { ExportDeps } from '../export-deps.ts';
import type { ExportSettings } from '../settings.ts';
import type { KeepingFetcher } from './keep-answers.ts';

const FOUND_PER_STATEMENT = 2_000;

/** Settles addresses whose answers discovery has kept, as a crawl settles them, and puts what they lead to in line. */
export async function settleKept(
  deps: ExportDeps,
  options: {
    settings: ExportSettings;
    token: string;
    leased: readonly LeasedUrl[];
    fetcher: KeepingFetcher;
    admission: Admission;
    signal: AbortSignal;
  },
): Promise<void> {
  const { settings, token, leased, fetcher, admission, signal } = options;
  if (leased.length === 0) return;
  const { jobId } = settings;
  const visits = await Promise.all(
    leased.map((each) => visit({ ...deps, fetcher }, { settings, leased: each, signal })),
  );
  const best = new Map<string, FoundUrl>();
  for (const { leased: from, resources } of visits) {
    for (const resource of resources) {
      const found = admission.admit(resource, from);
      if (found !== undefined && found.rank >= (best.get(found.url)?.rank ?? 0)) best.set(found.url, found);
    }
  }
  const found = [...best.values()].sort((a, b) => (a.url < b.url ? -1 : 1));
  const lease = { jobId, token, leaseMs: deps.limits.leaseMs };
  // What they lead to comes first: a worker that dies in between has another one visit them again.
  for (let start = 0; start < found.length; start += FOUND_PER_STATEMENT) {
    await settleUrls(deps.db, { ...lease, settled: [], found: found.slice(start, start + FOUND_PER_STATEMENT) });
  }
  await settleUrls(deps.db, { ...lease, settled: await placeFiles(deps.segments, jobId, visits), found: [] });
}
