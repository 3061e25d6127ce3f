import { CrawlOver } from '../crawl/crawl-frontier.ts';
import type { Admission } from '../crawl/crawl-scope.ts';
import { putInLine } from '../crawl/enqueue-urls.ts';
import { settleVisits } from '../crawl/settle-visits.ts';
import { visit } from '../crawl/visit.ts';
import type { UnchangedUrl } from '../crawl-records.ts';
import type { ModuleImports } from '../document/module-imports.ts';
import type { Site } from '../document/types.ts';
import { originUrl } from '../document/url-identity.ts';
import type { ExportDeps } from '../export-deps.ts';
import type { FetchResult } from '../fetch/fetch-result.ts';
import type { Fetcher } from '../ports.ts';
import type { ExportSettings } from '../settings.ts';
import type { KnownAnswers } from './previous-export.ts';
import { walkKnown } from './walk-known.ts';

/** As many addresses as are worth to be held in memory; what is in line past them is crawled as ever. */
const MAX_STARTS = 50_000;

type Options = {
  settings: ExportSettings;
  baseJobId: string;
  known: KnownAnswers;
  admission: Admission;
  fetcher: Fetcher;
  importsOf: ModuleImports;
  token: string;
  signal: AbortSignal;
  /** After each answer, for the count of what was fetched. */
  onAnswer: () => void;
};

/**
 * Settles at one stroke what the origin calls unchanged, as far as the kept crawl leads; the rest is put in line. To find,
 * lease and settle each address by itself would cost several times what asking for it does. Once per job: whoever dies
 * on the way leaves all of it to the crawl.
 */
export async function settleKnown(deps: ExportDeps, options: Options): Promise<void> {
  const { store, limits, stored } = deps;
  const { settings, known, admission, fetcher, importsOf, token, signal, onAnswer } = options;
  const { jobId } = settings;
  if (!(await store.claimKnownWalk(jobId))) return;
  const starts = await store.urlsInLine(jobId, MAX_STARTS);
  let decodedBytes = 0;
  const onDecoded = (bytes: number): void => {
    decodedBytes += bytes;
  };
  const get: Fetcher['get'] = (url, request) => fetcher.get(url, { ...request, onDecoded });
  const walk = await walkKnown(
    { fetcher: { ...fetcher, get }, known, admission, limits },
    { settings, starts, signal, maxMs: limits.walkMs, onAnswer },
  );
  const lease = { jobId, token, leaseMs: limits.leaseMs };
  // First, for an address that is settled while one it leads to is not in line would be the end of its way.
  await putInLine(
    store,
    lease,
    walk.rest.toSorted((a, b) => (a.url < b.url ? -1 : 1)),
  );
  const leased = await store.leaseNamedUrls({ ...lease, urls: [...walk.answers.keys()] });
  const reading = { ...deps, importsOf, fetcher: answering(fetcher, walk.answers, settings.site) };
  // Changed pages are read while the database has the most to do.
  const [visits] = await Promise.all([
    Promise.all(leased.map((each) => visit(reading, { settings, leased: each, signal }))),
    storeUnchanged(deps, { ...options, unchanged: walk.unchanged, decodedBytes }),
  ]);
  stored.of(jobId).add(walk.rest);
  stored.of(jobId).add(walk.unchanged);
  if (visits.length > 0) await settleVisits(deps, { lease, admission, visits });
}

/** The same fetcher, which asks nobody for an address that was answered. */
function answering(fetcher: Fetcher, answers: ReadonlyMap<string, FetchResult>, site: Site): Fetcher {
  const atHand = new Map([...answers].map(([url, answer]) => [new URL(originUrl(url, site)).href, answer]));
  return { ...fetcher, get: async (url, options) => atHand.get(url.href) ?? fetcher.get(url, options) };
}

/** All or nothing: they lead to each other. */
async function storeUnchanged(
  { store }: ExportDeps,
  {
    settings: { jobId },
    baseJobId,
    unchanged,
    decodedBytes,
  }: Options & { unchanged: readonly UnchangedUrl[]; decodedBytes: number },
): Promise<void> {
  const state = await store.settleUnchanged({ jobId, baseJobId, unchanged, decodedBytes });
  if (state === 'over') throw new CrawlOver('the crawl is over');
  // Restarted without what its base had stored: this worker was taken for dead.
  if (state === 'restarted') throw new CrawlOver('the crawl has begun anew');
}
