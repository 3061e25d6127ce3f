import { createHash } from 'node:crypto';
import { isWrongGuess, kindOfRank } from '../crawl/resource-rank.ts';
import type { Visited } from '../crawl/visited.ts';
import type { LeasedUrl } from '../crawl-records.ts';
import { assignPath } from '../document/assign-path.ts';
import { readResponseDocument } from '../document/header-elements.ts';
import type { Site } from '../document/types.ts';
import type { FetchedResponse, Validators } from '../fetch/fetch-result.ts';
import type { PreviousResponse } from './previous-export.ts';

/** The validators for a conditional request; undefined if the previous response had none, or was an error page. */
export function validatorsOf({ file }: PreviousResponse): Validators | undefined {
  const { etag, lastModified, status } = file;
  return status === 200 && (etag !== null || lastModified !== null) ? { etag, lastModified } : undefined;
}

/** The validators to use after a 304: its own, or the previous ones if it has none (RFC 9111, 4.3.4). */
export function stillValid({ file }: PreviousResponse, { etag, lastModified }: Validators): Validators {
  return { etag: etag ?? file.etag, lastModified: lastModified ?? file.lastModified };
}

/**
 * Whether an `X-Robots-Tag` may have hidden the page's links when it was stored: the header isn't part of the bytes.
 */
function mayBeHidden(known: PreviousResponse): boolean {
  const resources = known.resources();
  return resources.some(({ kind }) => kind === 'unfollowed') && resources.every(({ kind }) => kind !== 'page');
}

/** Whether a complete response has the same bytes as the previous export stored, and is to be read the same way. */
export function isSame(known: PreviousResponse, response: FetchedResponse, url: string, site: Site): boolean {
  const { file } = known;
  if (response.status !== file.status || response.nofollow === true) return false;
  const fetched = { bytes: response.body, contentType: response.contentType, url };
  const { bytes, contentType } = readResponseDocument(fetched, response.headElements, site);
  if (bytes.length !== file.byteLength || contentType !== file.contentType) return false;
  return createHash('sha256').update(bytes).digest('hex') === file.sha256 && !mayBeHidden(known);
}

/** Settles a URL with what the previous export stored: its bytes, their extraction and its links. */
export function reuseResponse(
  { file, newResources }: PreviousResponse,
  { site, leased, validators }: { site: Site; leased: LeasedUrl; validators: Validators },
): Visited {
  const { id, url, rank } = leased;
  const { contentType } = file;
  const { url: _, ...stored } = file;
  const result = {
    ...stored,
    id,
    outcome: 'file',
    path: assignPath({ url, contentType, kind: kindOfRank(rank) }, site),
    ...validators,
  } as const;
  return { leased, result, resources: isWrongGuess({ url, rank, contentType }) ? [] : newResources(leased) };
}
