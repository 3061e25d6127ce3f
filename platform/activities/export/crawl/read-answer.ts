import { createHash } from 'node:crypto';
import type { Logger } from 'pino';
import type { LeasedUrl } from '../../../store/frontier.ts';
import type { FetchedResponse } from '../fetch/fetcher.ts';
import { isWrongGuess } from '../freeze/wrong-guess.ts';
import { assignPath } from '../page/assign-path.ts';
import { extract, serializeExtraction } from '../page/extract.ts';
import { readAnsweredDocument } from '../page/header-elements.ts';
import { isOfSite } from '../page/url-identity.ts';
import { kindOfRank } from '../resource-rank.ts';
import type { ExportSettings } from '../settings.ts';
import type { Visited } from './visited.ts';

/** Makes a file of a whole answer and reads what it refers to. Never throws. */
export function readAnswer(
  { logger }: { logger: Logger },
  { site }: ExportSettings,
  leased: LeasedUrl,
  answer: FetchedResponse,
): Visited {
  const { url, rank, id } = leased;
  const { body, headElements } = answer;
  const fetched = { bytes: body, contentType: answer.contentType, url };
  const { bytes, contentType, format } = readAnsweredDocument(fetched, headElements, site);
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
    const nofollow = answer.nofollow === true;
    const read = extract({ bytes, contentType, url, format, nofollow }, site);
    // A drawn page starts its scripts by itself, where they can work.
    const extraction = answer.drawn === true ? { ...read, framework: null } : read;
    const result = { ...file, extraction: Buffer.from(serializeExtraction(extraction)) };
    const leadsNowhere = isWrongGuess({ url, rank, contentType });
    return { leased, result, resources: leadsNowhere ? [] : extraction.resources };
  } catch (error) {
    // One odd document must not keep a site from being exported: it goes into the bundle as it is.
    logger.error({ err: error, url }, 'A document could not be read; its links stay as they are');
    return opaque;
  }
}
