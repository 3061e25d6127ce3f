import { createWorkList } from '../concurrency.ts';
import type { FoundUrl, UnchangedUrl } from '../crawl-records.ts';
import type { ModuleImports } from '../document/javascript/import-map.ts';
import { isFinal } from '../fetch/caching-fetcher.ts';
import { NO_VALIDATORS } from '../fetch/fetch-result.ts';
import type { ExportLimits } from '../limits.ts';
import type { Fetcher, FetchResult, Validators } from '../ports.ts';
import {
  isSame,
  type PreviousResponse,
  type PreviousResponses,
  stillValid,
  validatorsOf,
} from '../reuse/previous-responses.ts';
import type { ExportSettings } from '../settings.ts';
import { noJekyllUrl, notFoundUrl } from '../urls/assign-path.ts';
import type { Site } from '../urls/identity.ts';
import { originUrl } from '../urls/identity.ts';
import { rankOf } from '../urls/resource-rank.ts';
import { twinOf } from '../urls/twin-url.ts';
import { CrawlOver } from './crawl-frontier.ts';
import type { CrawlScope } from './crawl-scope.ts';
import { enqueueUrls, type StoredUrlsFor, settleVisits } from './report-urls.ts';
import { type VisitingStageDeps, visit } from './visit.ts';

/** URLs held in memory; what is queued past them is crawled as usual. */
const MAX_STARTS = 50_000;

type RevalidateDeps = VisitingStageDeps & { stored: StoredUrlsFor };

type Options = {
  settings: ExportSettings;
  baseJobId: string;
  known: PreviousResponses;
  scope: CrawlScope;
  fetcher: Fetcher;
  importsOf: ModuleImports;
  token: string;
  signal: AbortSignal;
  /** Called after each response, to count what was fetched. */
  onResponse: () => void;
};

/**
 * Revalidates the previous export with conditional requests: settles what is unchanged in one transaction and enqueues
 * the rest. To find, lease and settle each URL by itself would cost several times as much as its request. Happens once
 * per job: if the worker dies meanwhile, the crawl does all of it.
 */
export async function revalidatePreviousExport(deps: RevalidateDeps, options: Options): Promise<void> {
  const { store, limits, stored } = deps;
  const { settings, known, scope, fetcher, importsOf, token, signal, onResponse } = options;
  const { jobId } = settings;
  const starts = await store.claimRevalidation(jobId, MAX_STARTS);
  if (starts === undefined) return;
  let decodedBytes = 0;
  const onDecoded = (bytes: number): void => {
    decodedBytes += bytes;
  };
  const revalidation = await findUnchanged(
    { fetcher, known, scope, limits },
    { settings, starts, signal, maxMs: limits.revalidateMs, onResponse, onDecoded },
  );
  const lease = { jobId, token, leaseMs: limits.leaseMs };
  // Enqueue links first: a settled page is never visited again.
  await enqueueUrls(
    store,
    lease,
    revalidation.rest.toSorted((a, b) => (a.url < b.url ? -1 : 1)),
  );
  const leased = await store.leaseUrls({ ...lease, urls: [...revalidation.responses.keys()] });
  const reading = { ...deps, importsOf, fetcher: withResponses(fetcher, revalidation.responses, settings.site) };
  // Changed pages are read while the database has the most to do.
  const [visits] = await Promise.all([
    Promise.all(leased.map((each) => visit(reading, { settings, leased: each, signal }))),
    commitRevalidated(deps, { ...options, unchanged: revalidation.unchanged, decodedBytes }),
  ]);
  stored(jobId).add(revalidation.rest);
  stored(jobId).add(revalidation.unchanged);
  if (visits.length > 0) await settleVisits(deps, { lease, scope, visits });
}

/** The same fetcher, which makes no request for a URL that has a response. */
function withResponses(fetcher: Fetcher, responses: ReadonlyMap<string, FetchResult>, site: Site): Fetcher {
  const atHand = new Map([...responses].map(([url, response]) => [new URL(originUrl(url, site)).href, response]));
  return { ...fetcher, get: async (url, options) => atHand.get(url.href) ?? fetcher.get(url, options) };
}

/** All or nothing: they lead to each other. */
async function commitRevalidated(
  { store }: RevalidateDeps,
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
  if (state === 'restarted') throw new CrawlOver('the crawl was restarted');
}

type Revalidation = {
  unchanged: UnchangedUrl[];
  /** What else was found: left out, new to the site, changed, or not requested. */
  rest: FoundUrl[];
  /** Final responses to those of the rest that were requested, by URL. */
  responses: ReadonlyMap<string, FetchResult>;
};

/** Changed responses that end the revalidation: most of the site is new, or its origin is failing. */
const MAX_CHANGED = 500;
/** Bytes of the changed pages' bodies, which are held until all is stored. */
const MAX_CHANGED_BYTES = 8 * 1024 * 1024;

/**
 * Finds what is unchanged, from the queued URLs along the links that the previous export stored. Works in memory only:
 * the result counts when it is committed as a whole.
 */
async function findUnchanged(
  deps: { fetcher: Fetcher; known: PreviousResponses; scope: CrawlScope; limits: ExportLimits },
  options: {
    settings: ExportSettings;
    starts: readonly FoundUrl[];
    signal: AbortSignal;
    maxMs: number;
    onResponse: () => void;
    onDecoded: (bytes: number) => void;
  },
): Promise<Revalidation> {
  const { fetcher, known, scope, limits } = deps;
  const { settings, signal, onDecoded } = options;
  const { site } = settings;
  const endAt = Date.now() + options.maxMs;
  const found = new Map<string, FoundUrl>();
  const unchanged = new Map<FoundUrl, Validators>();
  const responses = new Map<string, FetchResult>();
  let changedCount = 0;
  let changedBytes = 0;

  const waiting = createWorkList({ atOnce: limits.maxConcurrency, goesOn }, ask);

  function note(url: FoundUrl): void {
    const before = found.get(url.url);
    if (before === undefined || (before.skip !== null && url.skip === null)) {
      found.set(url.url, url);
      if (url.skip === null) waiting.add(url);
    } else {
      before.rank = Math.max(before.rank, url.rank);
    }
  }

  function goesOn(): boolean {
    const changedLittle = changedCount < MAX_CHANGED && changedBytes < MAX_CHANGED_BYTES;
    return !signal.aborted && Date.now() < endAt && changedLittle;
  }

  async function ask(url: FoundUrl): Promise<void> {
    if (!mayBeKnown(url, settings)) return;
    const stored = known.atHand(url.url) ?? (await known.of(url.url));
    if (stored === undefined || stored.file.byteLength > limits.maxBufferedBytes) return;
    const target = new URL(originUrl(url.url, site));
    const response = await fetcher.get(target, { signal, unlessMatching: validatorsOf(stored), onDecoded });
    options.onResponse();
    const validators = stillSame(stored, response, url, settings);
    if (validators === undefined) {
      changedCount += 1;
      if (isFinal(response)) responses.set(url.url, response);
      if (response.kind === 'response') changedBytes += response.body.length;
      return;
    }
    unchanged.set(url, validators);
    const twin = stored.file.isPage ? twinOf(url.url, settings.twins) : [];
    for (const resource of [...stored.newResources(url), ...twin]) {
      const next = scope.admit(resource, url);
      if (next !== undefined) note(next);
    }
  }

  for (const url of options.starts) note(url);
  await waiting.ended();
  signal.throwIfAborted();
  const all = [...found.values()];
  return {
    unchanged: all.flatMap((url) => {
      const validators = unchanged.get(url);
      return validators === undefined ? [] : [unchangedUrl(url, validators)];
    }),
    rest: all.filter((url) => !unchanged.has(url)),
    responses,
  };
}

function unchangedUrl({ url, rank, depth, foundOn }: FoundUrl, { etag, lastModified }: Validators): UnchangedUrl {
  return { url, rank, depth, foundOn, etag, lastModified };
}

/**
 * A guessed URL isn't revalidated, nor is the not-found page, which may come from any URL, nor what no origin is asked
 * for.
 */
function mayBeKnown({ url, rank }: FoundUrl, { site }: ExportSettings): boolean {
  return rank > rankOf('probe') && url !== notFoundUrl(site) && url !== noJekyllUrl(site);
}

/** The validators of an unchanged file from now on; undefined if it has changed. */
function stillSame(
  stored: PreviousResponse,
  response: FetchResult,
  url: FoundUrl,
  { site }: ExportSettings,
): Validators | undefined {
  if (response.kind === 'unchanged') return stillValid(stored, response.validators);
  if (response.kind !== 'response' || !isSame(stored, response, url, site)) return undefined;
  return response.validators ?? NO_VALIDATORS;
}
