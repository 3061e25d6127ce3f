import { createHash, randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import type { ObjectStore } from '../../../objects/object-store.ts';
import type { LeasedUrl, SettledUrl } from '../../../store/frontier.ts';
import type { FetchedResponse, Fetcher } from '../fetch/fetcher.ts';
import { isWrongGuess } from '../freeze/wrong-guess.ts';
import type { ExportLimits } from '../limits.ts';
import { largeObjectKey } from '../object-keys.ts';
import { assignPath } from '../page/assign-path.ts';
import { readDocument } from '../page/document.ts';
import { extract, serializeExtraction } from '../page/extract.ts';
import type { Resource } from '../page/types.ts';
import { isOfSite, isWanted, normalizeUrl, originUrl } from '../page/url-identity.ts';
import { kindOfRank } from '../resource-rank.ts';
import type { ExportSettings } from '../settings.ts';
import { retryDelayMs } from './retry-delay.ts';

type SettledFile = Extract<SettledUrl, { outcome: 'file' }>;

/** A file whose bytes are still to be placed in a segment, with its references as stored text. */
export type UnplacedFile = Omit<SettledFile, 'objectKey' | 'byteOffset' | 'byteLength' | 'extractionLength'> & {
  bytes: Uint8Array;
  extraction: Uint8Array;
};

export type Visited = {
  leased: LeasedUrl;
  result: Exclude<SettledUrl, SettledFile> | SettledFile | UnplacedFile;
  /** What the answer refers to, for the frontier. */
  resources: readonly Resource[];
};

/** Deaths of workers while they held an address count as tries too: past this the address is what kills them. */
const MAX_LOST_ATTEMPTS = 8;

const MAX_REASON_LENGTH = 500;

function missing(leased: LeasedUrl, reason: string, status: number | null): Visited {
  const text = reason.replaceAll('\0', '').slice(0, MAX_REASON_LENGTH);
  return { leased, result: { id: leased.id, outcome: 'missing', reason: text, status }, resources: [] };
}

function sha256Of(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** For origins that answer what they don't have with nothing a reader could look at. */
const plainNotFound: FetchedResponse = {
  kind: 'response',
  status: 404,
  contentType: 'text/html; charset=utf-8',
  body: Buffer.from('<!doctype html><meta charset="utf-8"><title>Page not found</title><h1>Page not found</h1>\n'),
};

function isHtml(contentType: string): boolean {
  return /^\s*(text\/html|application\/xhtml\+xml)/i.test(contentType);
}

/** Fetches one address and reads its references. Never throws but for the signal, or for the object store. */
export async function visit(
  { fetcher, objects, limits }: { fetcher: Fetcher; objects: ObjectStore; limits: ExportLimits },
  { settings, leased, signal }: { settings: ExportSettings; leased: LeasedUrl; signal: AbortSignal },
): Promise<Visited> {
  const { site, jobId } = settings;
  const kind = kindOfRank(leased.rank);
  if (leased.attempts > limits.maxAttempts + MAX_LOST_ATTEMPTS) {
    return missing(leased, 'given up: the worker ended each time it was fetched', null);
  }

  let large: Pick<SettledFile, 'objectKey' | 'byteLength' | 'sha256'> | undefined;
  const storeLarge = async (body: AsyncIterable<Buffer>, contentType: string): Promise<void> => {
    const hash = createHash('sha256');
    let byteLength = 0;
    const counted = async function* () {
      for await (const chunk of body) {
        hash.update(chunk);
        byteLength += chunk.length;
        yield chunk;
      }
    };
    const objectKey = largeObjectKey(jobId, randomUUID());
    await objects.put(objectKey, Readable.from(counted()), { contentType });
    large = { objectKey, byteLength, sha256: hash.digest('hex') };
  };

  const isNotFoundPage = leased.url === notFoundUrl(settings);
  const answer = await fetcher.get(new URL(originUrl(leased.url, site)), {
    signal,
    sink: storeLarge,
    ...(isNotFoundPage && { acceptStatus: (status: number) => status === 404 }),
  });

  if (answer.kind === 'failed') {
    if (isNotFoundPage && !answer.soft) return readAnswer(plainNotFound);
    const dueInMs = retryDelayMs(answer, leased.attempts, limits.maxAttempts);
    if (dueInMs === undefined && isNotFoundPage) return readAnswer(plainNotFound);
    if (dueInMs === undefined) return missing(leased, answer.reason, answer.status);
    const { reason, status } = answer;
    return { leased, result: { id: leased.id, outcome: 'retry', dueInMs, reason, status }, resources: [] };
  }

  if (answer.kind === 'redirect') {
    if (isNotFoundPage) return readAnswer((await cleanNotFoundPage(answer.location)) ?? plainNotFound);
    const target = normalizeUrl(answer.location.href, site);
    if (target === undefined) return missing(leased, `redirects to ${answer.location.href}`, answer.status);
    if (target === leased.url) return missing(leased, 'redirects to itself', answer.status);
    const redirectTo = `${target}${answer.location.hash}`;
    const resources = isWanted({ url: target, kind }, site, settings.external) ? [{ url: target, kind }] : [];
    return { leased, result: { id: leased.id, outcome: 'redirect', status: answer.status, redirectTo }, resources };
  }

  const base = { id: leased.id, outcome: 'file', status: answer.status } as const;
  if (answer.kind === 'sunk') {
    if (large === undefined) return missing(leased, 'the file could not be stored', answer.status);
    const path = assignPath({ url: leased.url, contentType: answer.contentType, kind }, site);
    const { contentType } = answer;
    const result = { ...base, ...large, contentType, isPage: false, byteOffset: 0, extractionLength: 0, path };
    return { leased, result, resources: [] };
  }
  return readAnswer(isNotFoundPage && !isHtml(answer.contentType) ? plainNotFound : answer);

  /** Hosts with clean addresses send `/404.html` to `/404`. */
  async function cleanNotFoundPage(location: URL): Promise<FetchedResponse | undefined> {
    if (location.pathname !== '/404' || !isOfSite(normalizeUrl(location.href, site) ?? '', site)) return undefined;
    const url = new URL(originUrl(`https://${site.domain}/404`, site));
    const clean = await fetcher.get(url, { signal, acceptStatus: (status) => status === 404 });
    return clean.kind === 'response' && isHtml(clean.contentType) ? clean : undefined;
  }

  function readAnswer({ body, contentType: sent }: FetchedResponse): Visited {
    const document = readDocument({ bytes: body, contentType: sent, url: leased.url });
    const { bytes, contentType, format } = document;
    const extraction = extract(document, site);
    const path = assignPath({ url: leased.url, contentType, kind }, site);
    const isPage = format === 'html' && isOfSite(leased.url, site);
    const serialized = format === 'other' ? new Uint8Array() : Buffer.from(serializeExtraction(extraction));
    const result = { ...base, contentType, isPage, bytes, extraction: serialized, sha256: sha256Of(bytes), path };
    const leadsNowhere = isWrongGuess({ url: leased.url, rank: leased.rank, contentType });
    return { leased, result, resources: leadsNowhere ? [] : extraction.resources };
  }
}

/** The address under which the not-found page is kept, whatever address brought it. */
export function notFoundUrl(settings: Pick<ExportSettings, 'site'>): string {
  return `https://${settings.site.domain}/404.html`;
}
