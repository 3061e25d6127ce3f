import { yieldToEventLoop } from '../concurrency.ts';
import type { LeasedUrl, Visited } from '../crawl-records.ts';
import type { ModuleImports } from '../document/javascript/import-map.ts';
import { fetchRetryDelayMs, NO_VALIDATORS } from '../fetch/fetch-result.ts';
import type { FetcherFor } from '../fetch/fetcher.ts';
import type { ExportLimits } from '../limits.ts';
import type {
  ExportObjects,
  FetchedRedirect,
  FetchedResponse,
  Fetcher,
  FetchFailure,
  FetchOptions,
  FetchResult,
  Renderer,
  Validators,
} from '../ports.ts';
import type { RenderResponse } from '../render/render-site.ts';
import {
  isSame,
  type PreviousResponses,
  reuseResponse,
  stillValid,
  validatorsOf,
} from '../reuse/previous-responses.ts';
import type { ExportSettings } from '../settings.ts';
import type { StageDeps, WithApart } from '../stage.ts';
import type { SegmentStore } from '../store/segment-store.ts';
import { assignPath, noJekyllUrl, notFoundUrl } from '../urls/assign-path.ts';
import type { Site } from '../urls/identity.ts';
import { isOfSite, isWanted, normalizeUrl, originUrl } from '../urls/identity.ts';
import { kindOfRank, rankOf } from '../urls/resource-rank.ts';
import { robotsOf } from '../urls/robots.ts';
import { skipReason } from '../urls/skip-rules.ts';
import { twinOf } from '../urls/twin-url.ts';
import type { SitemapReader } from './discover.ts';
import { type ResponseParser, readResponse } from './read-response.ts';
import { type LargeBody, storeLarge } from './store-visits.ts';

/** What a stage needs that visits URLs. */
export type VisitingStageDeps = StageDeps & {
  objects: ExportObjects;
  segments: SegmentStore;
  computing: WithApart<ResponseParser & SitemapReader>;
  fetcherFor: FetcherFor;
  renderer: Renderer | undefined;
};

type VisitDeps = Pick<VisitingStageDeps, 'objects' | 'limits' | 'logger' | 'computing'> & {
  fetcher: Fetcher;
  importsOf: ModuleImports;
  /** The responses of the previous export, if it may be reused. */
  known?: PreviousResponses | undefined;
  /** Throws if this many more bytes would exceed the export's budget. */
  foresee?: ((bytes: number) => void) | undefined;
  /** Renders pages in a browser, if the project wants that. */
  render?: RenderResponse | undefined;
};
type VisitInput = {
  settings: ExportSettings;
  leased: LeasedUrl;
  signal: AbortSignal;
  onBody?: OnBody;
};
/** Called with true when a response's body starts to arrive, and with false when it is complete or given up. */
export type OnBody = (isComing: boolean) => void;

const MAX_REASON_LENGTH = 500;

/**
 * Fetches one URL and extracts its references. Throws only if the signal fires, the object store fails, or a file
 * exceeds the rest of the export's budget.
 */
export async function visit(deps: VisitDeps, input: VisitInput): Promise<Visited> {
  let decodedBytes = 0;
  const onDecoded = (bytes: number): void => {
    decodedBytes += bytes;
  };
  const read = withoutForbiddenPage(await fetchAndRead(deps, { ...input, onDecoded }), input.settings);
  const visited = withTwin(read, input.settings);
  return { ...visited, result: { ...visited.result, decodedBytes } };
}

// Awaits only what is a promise: a page needs about fifty promises, and under Temporal's hooks each costs a microsecond.
async function fetchAndRead(
  deps: VisitDeps,
  { settings, leased, signal, onBody, onDecoded }: VisitInput & { onDecoded: (bytes: number) => void },
): Promise<Visited> {
  const { fetcher, limits } = deps;
  const { site, jobId } = settings;
  let large: LargeBody | undefined;
  let overBudget: { error: unknown } | undefined;
  const onStored = (bytes: number): void => {
    try {
      deps.foresee?.(bytes);
    } catch (error) {
      overBudget = { error };
      throw error;
    }
  };
  if (leased.url === noJekyllUrl(site)) return readResponse(deps, settings, leased, emptyFile);
  const isNotFoundPage = leased.url === notFoundUrl(site);
  const known = deps.known && (await deps.known.of(leased.url));
  const fetched = await fetcher.get(new URL(originUrl(leased.url, site)), {
    signal,
    onDecoded,
    onResponse: () => onBody?.(true),
    sink: async (body, contentType) => {
      large = await storeLarge(deps.objects, { jobId, body, contentType, onStored });
    },
    // The not-found page may have come from another URL.
    ...(isNotFoundPage ? { acceptStatus: acceptsNotFound } : { unlessMatching: known && validatorsOf(known) }),
  });

  onBody?.(false);
  if (overBudget !== undefined) throw overBudget.error;

  if (fetched.kind === 'failed') {
    const again = retried(leased, fetched, limits);
    if (again !== undefined) return again;
  }
  const read = async (response: FetchedResponse): Promise<Visited> => {
    await yieldToEventLoop();
    if (known !== undefined && isSame(known, response, leased, site)) {
      return reuseResponse(known, { site, leased, validators: response.validators ?? NO_VALIDATORS });
    }
    const rendered = deps.render && (await deps.render(leased, response, signal));
    const visited = await readResponse(deps, settings, leased, rendered?.response ?? response);
    const resources = rendered === undefined ? visited.resources : [...visited.resources, ...rendered.requested];
    return withValidators({ ...visited, resources }, response.validators);
  };
  if (isNotFoundPage) {
    const request = { signal, onDecoded };
    return read(await settleNotFoundPage(fetched, { fetcher, site, request }));
  }
  switch (fetched.kind) {
    case 'failed':
      return missing(leased, fetched.reason, fetched.status);
    case 'redirect':
      return redirected(settings, leased, fetched);
    case 'sunk':
      if (large === undefined) return missing(leased, 'the file could not be stored', fetched.status);
      return withValidators(largeFile(settings, leased, large, fetched), fetched.validators);
    case 'response':
      return await read(fetched);
    case 'unchanged':
      if (known === undefined) return missing(leased, 'HTTP 304', 304);
      return reuseResponse(known, { site, leased, validators: stillValid(known, fetched.validators) });
  }
}

/**
 * Files that scripts load are fetched whatever robots.txt says. If a URL guessed from a script turns out to be a page
 * that robots.txt forbids, it counts as missing.
 */
function withoutForbiddenPage(visited: Visited, settings: ExportSettings): Visited {
  const { leased, result } = visited;
  if (leased.rank > rankOf('probe') || result.outcome !== 'file' || !result.isPage) return visited;
  const { pathname, search } = new URL(leased.url);
  if (robotsOf(settings).isAllowed(`${pathname}${search}`)) return visited;
  return {
    leased,
    result: { id: leased.id, outcome: 'missing', reason: skipReason('robots'), status: result.status },
    resources: [],
  };
}

function withTwin(visited: Visited, { site, twins }: ExportSettings): Visited {
  const { leased, result, resources } = visited;
  const isPage = result.outcome === 'file' && result.isPage && leased.url !== notFoundUrl(site);
  return isPage ? { ...visited, resources: [...resources, ...twinOf(leased.url, twins)] } : visited;
}

function withValidators(visited: Visited, validators: Validators | undefined): Visited {
  const { result, needsRereading } = visited;
  // Without validators the next export requests the whole page.
  return result.outcome === 'file' && needsRereading !== true
    ? { ...visited, result: { ...result, ...validators } }
    : visited;
}

function missing(leased: LeasedUrl, reason: string, status: number | null): Visited {
  const text = reason.replaceAll('\0', '').slice(0, MAX_REASON_LENGTH);
  return { leased, result: { id: leased.id, outcome: 'missing', reason: text, status }, resources: [] };
}

function retried(leased: LeasedUrl, failure: FetchFailure, { maxAttempts }: ExportLimits): Visited | undefined {
  const dueInMs = fetchRetryDelayMs(failure, leased.attempts, maxAttempts);
  if (dueInMs === undefined) return undefined;
  const { reason, status } = failure;
  return { leased, result: { id: leased.id, outcome: 'retry', dueInMs, reason, status }, resources: [] };
}

function redirected(settings: ExportSettings, leased: LeasedUrl, redirect: FetchedRedirect): Visited {
  const { site } = settings;
  const { location, status } = redirect;
  const target = normalizeUrl(location.href, site);
  if (target === undefined) return missing(leased, `redirects to ${location.href}`, status);
  if (target === leased.url) return missing(leased, 'redirects to itself', status);
  const next = {
    url: target,
    kind: kindOfRank(leased.rank),
    ...(leased.charset !== null && { charset: leased.charset }),
  };
  const redirectTo = `${target}${location.hash}`;
  return {
    leased,
    result: { id: leased.id, outcome: 'redirect', status, redirectTo },
    resources: isWanted(next, site, settings) ? [next] : [],
  };
}

function largeFile(
  { site }: ExportSettings,
  leased: LeasedUrl,
  large: LargeBody,
  { status, contentType }: { status: number; contentType: string },
): Visited {
  const path = assignPath({ url: leased.url, contentType, kind: kindOfRank(leased.rank) }, site);
  const place = { ...large, byteOffset: 0, extractionLength: 0, storedBytes: large.byteLength };
  const result = { id: leased.id, outcome: 'file', status, contentType, isPage: false, path, ...place } as const;
  return { leased, result, resources: [] };
}

/** Accepts the error status of a missing page, whose body is the not-found page. */
function acceptsNotFound(status: number): boolean {
  return status === 404;
}

const emptyFile: FetchedResponse = {
  kind: 'response',
  status: 200,
  contentType: 'application/octet-stream',
  body: Buffer.alloc(0),
};

/** Used if the origin has no readable not-found page. */
const plainNotFound: FetchedResponse = {
  kind: 'response',
  status: 404,
  contentType: 'text/html; charset=utf-8',
  body: Buffer.from('<!doctype html><meta charset="utf-8"><title>Page not found</title><h1>Page not found</h1>\n'),
};

function isHtml(fetched: FetchResult): fetched is FetchedResponse {
  return fetched.kind === 'response' && /^\s*(text\/html|application\/xhtml\+xml)/i.test(fetched.contentType);
}

/**
 * Settles the not-found page with what the origin returns for `/404.html`: a real file, an error page, or our plain
 * one. Follows redirects, because hosts with clean URLs redirect `/404.html` to `/404`.
 */
async function settleNotFoundPage(
  fetched: FetchResult,
  { fetcher, site, request }: { fetcher: Fetcher; site: Site; request: FetchOptions },
): Promise<FetchedResponse> {
  if (isHtml(fetched)) return fetched;
  if (fetched.kind !== 'redirect' || fetched.location.pathname !== '/404') return plainNotFound;
  const target = normalizeUrl(fetched.location.href, site);
  if (target === undefined || !isOfSite(target, site)) return plainNotFound;
  const clean = await fetcher.get(new URL(originUrl(target, site)), { ...request, acceptStatus: acceptsNotFound });
  return isHtml(clean) ? clean : plainNotFound;
}
