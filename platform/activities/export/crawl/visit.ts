import { createHash } from 'node:crypto';
import type { Logger } from 'pino';
import type { ObjectStore } from '../../../objects/object-store.ts';
import type { LeasedUrl, SettledUrl } from '../../../store/frontier.ts';
import type { FetchFailure } from '../fetch/failure.ts';
import type { FetchedRedirect, FetchedResponse, Fetcher } from '../fetch/fetcher.ts';
import { isWrongGuess } from '../freeze/wrong-guess.ts';
import type { ExportLimits } from '../limits.ts';
import { assignPath } from '../page/assign-path.ts';
import { readDocument } from '../page/document.ts';
import { extract, serializeExtraction } from '../page/extract.ts';
import type { Resource } from '../page/types.ts';
import { isOfSite, isWanted, normalizeUrl, originUrl } from '../page/url-identity.ts';
import { kindOfRank } from '../resource-rank.ts';
import type { ExportSettings } from '../settings.ts';
import { acceptsNotFound, notFoundUrl, settleNotFoundPage } from './not-found-page.ts';
import { retryDelayMs } from './retry-delay.ts';
import { type LargeBody, storeLarge } from './store-large.ts';

type SettledFile = Extract<SettledUrl, { outcome: 'file' }>;

/** A file whose bytes are still to be placed in a segment, with its references as stored text. */
export type UnplacedFile = Omit<SettledFile, 'objectKey' | 'byteOffset' | 'byteLength' | 'extractionLength'> & {
  bytes: Uint8Array;
  extraction: Uint8Array;
};

export type Visited = {
  leased: LeasedUrl;
  result: SettledUrl | UnplacedFile;
  /** What the answer refers to, for the frontier. */
  resources: readonly Resource[];
};

export type VisitDeps = { fetcher: Fetcher; objects: ObjectStore; limits: ExportLimits; logger: Logger };
export type VisitInput = { settings: ExportSettings; leased: LeasedUrl; signal: AbortSignal };

/** Deaths of workers while they held an address count as tries too: past this the address is what kills them. */
const MAX_LOST_ATTEMPTS = 8;
const MAX_REASON_LENGTH = 500;

/** Fetches one address and reads its references. Never throws but for the signal, or for the object store. */
export async function visit(deps: VisitDeps, { settings, leased, signal }: VisitInput): Promise<Visited> {
  const { fetcher, limits } = deps;
  const { site, jobId } = settings;
  if (leased.attempts > limits.maxAttempts + MAX_LOST_ATTEMPTS) {
    return missing(leased, 'given up: the worker ended each time it was fetched', null);
  }
  let large: LargeBody | undefined;
  const isNotFoundPage = leased.url === notFoundUrl(site);
  const answer = await fetcher.get(new URL(originUrl(leased.url, site)), {
    signal,
    sink: async (body, contentType) => {
      large = await storeLarge(deps.objects, jobId, body, contentType);
    },
    ...(isNotFoundPage && { acceptStatus: acceptsNotFound }),
  });

  if (answer.kind === 'failed') {
    const again = retried(leased, answer, limits);
    if (again !== undefined) return again;
  }
  if (isNotFoundPage) {
    return readAnswer(deps, settings, leased, await settleNotFoundPage(answer, { fetcher, site, signal }));
  }
  switch (answer.kind) {
    case 'failed':
      return missing(leased, answer.reason, answer.status);
    case 'redirect':
      return redirected(settings, leased, answer);
    case 'sunk':
      if (large === undefined) return missing(leased, 'the file could not be stored', answer.status);
      return largeFile(settings, leased, large, answer);
    case 'response':
      return readAnswer(deps, settings, leased, answer);
  }
}

function missing(leased: LeasedUrl, reason: string, status: number | null): Visited {
  const text = reason.replaceAll('\0', '').slice(0, MAX_REASON_LENGTH);
  return { leased, result: { id: leased.id, outcome: 'missing', reason: text, status }, resources: [] };
}

function retried(leased: LeasedUrl, failure: FetchFailure, { maxAttempts }: ExportLimits): Visited | undefined {
  const dueInMs = retryDelayMs(failure, leased.attempts, maxAttempts);
  if (dueInMs === undefined) return undefined;
  const { reason, status } = failure;
  return { leased, result: { id: leased.id, outcome: 'retry', dueInMs, reason, status }, resources: [] };
}

function redirected({ site, external }: ExportSettings, leased: LeasedUrl, answer: FetchedRedirect): Visited {
  const { location, status } = answer;
  const target = normalizeUrl(location.href, site);
  if (target === undefined) return missing(leased, `redirects to ${location.href}`, status);
  if (target === leased.url) return missing(leased, 'redirects to itself', status);
  const next = { url: target, kind: kindOfRank(leased.rank) };
  const redirectTo = `${target}${location.hash}`;
  return {
    leased,
    result: { id: leased.id, outcome: 'redirect', status, redirectTo },
    resources: isWanted(next, site, external) ? [next] : [],
  };
}

function largeFile(
  { site }: ExportSettings,
  leased: LeasedUrl,
  large: LargeBody,
  { status, contentType }: { status: number; contentType: string },
): Visited {
  const path = assignPath({ url: leased.url, contentType, kind: kindOfRank(leased.rank) }, site);
  const place = { ...large, byteOffset: 0, extractionLength: 0 };
  const result = { id: leased.id, outcome: 'file', status, contentType, isPage: false, path, ...place } as const;
  return { leased, result, resources: [] };
}

function readAnswer(deps: VisitDeps, { site }: ExportSettings, leased: LeasedUrl, answer: FetchedResponse): Visited {
  const { url, rank, id } = leased;
  const { bytes, contentType, format } = readDocument({ bytes: answer.body, contentType: answer.contentType, url });
  const file = {
    id,
    outcome: 'file',
    status: answer.status,
    contentType,
    isPage: format === 'html' && isOfSite(url, site),
    bytes,
    sha256: createHash('sha256').update(bytes).digest('hex'),
    path: assignPath({ url, contentType, kind: kindOfRank(rank) }, site),
  } as const;
  const opaque: Visited = { leased, result: { ...file, extraction: new Uint8Array() }, resources: [] };
  if (format === 'other') return opaque;
  try {
    const extraction = extract({ bytes, contentType, url, format }, site);
    const result = { ...file, extraction: Buffer.from(serializeExtraction(extraction)) };
    const leadsNowhere = isWrongGuess({ url, rank, contentType });
    return { leased, result, resources: leadsNowhere ? [] : extraction.resources };
  } catch (error) {
    // One odd document must not keep a site from being exported: it goes into the bundle as it is.
    deps.logger.error({ err: error, url }, 'A document could not be read; its links stay as they are');
    return opaque;
  }
}
