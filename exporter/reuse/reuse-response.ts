import { createHash } from 'node:crypto';
import { kindOfRank } from '../crawl/resource-rank.ts';
import type { Visited } from '../crawl/visited.ts';
import type { LeasedUrl } from '../crawl-records.ts';
import { assignPath } from '../document/assign-path.ts';
import { readAnsweredDocument } from '../document/header-elements.ts';
import type { Site } from '../document/types.ts';
import type { FetchedResponse } from '../fetch/fetch-result.ts';
import type { Validators } from '../fetch/validators.ts';
import { isWrongGuess } from '../freeze/wrong-guess.ts';
import type { PreviousResponse } from './previous-export.ts';

/** The validators to ask with; undefined where the last answer had none, or was an error's page. */
export function validatorsOf({ file }: PreviousResponse): Validators | undefined {
  const { etag, lastModified, status } = file;
  return status === 200 && (etag !== null || lastModified !== null) ? { etag, lastModified } : undefined;
}

/** A 304 tells the validators to use from here on; where it tells none, the old ones still hold (RFC 9111, 4.3.4). */
export function stillValid({ file }: PreviousResponse, { etag, lastModified }: Validators): Validators {
  return { etag: etag ?? file.etag, lastModified: lastModified ?? file.lastModified };
}

/** Whether a header may have hidden every link of the page when it was stored: `X-Robots-Tag` is no part of the bytes. */
function mayBeHidden(known: PreviousResponse): boolean {
  const resources = known.resources();
  return resources.some(({ kind }) => kind === 'unfollowed') && resources.every(({ kind }) => kind !== 'page');
}

/** Whether an answer that came whole is, byte for byte, what the last export stored, and is to be read the same way. */
export function isSame(known: PreviousResponse, answer: FetchedResponse, url: string, site: Site): boolean {
  const { file } = known;
  if (answer.status !== file.status || answer.nofollow === true) return false;
  const fetched = { bytes: answer.body, contentType: answer.contentType, url };
  const { bytes, contentType } = readAnsweredDocument(fetched, answer.headElements, site);
  if (bytes.length !== file.byteLength || contentType !== file.contentType) return false;
  return createHash('sha256').update(bytes).digest('hex') === file.sha256 && !mayBeHidden(known);
}

/** Settles an address by what the last export stored: its bytes, what was read in them, its links. */
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
