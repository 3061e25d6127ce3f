import { LRUCache } from 'lru-cache';
import Negotiator from 'negotiator';

const IDENTITY = 'identity';

/** Browsers send few different headers, and parsing one costs more than answering from memory. */
const parsed = new LRUCache<string, string>({ max: 500 });
const LONGEST_REMEMBERED = 200;

/**
 * The coding that an Accept-Encoding header prefers. Of equally acceptable ones the first, because browsers don't rank
 * them. Undefined: the file itself, also if nothing is acceptable, which RFC 9110 (12.5.3) allows and all clients can
 * read.
 * @param codings best first
 */
export function chooseEncoding<Coding extends string>(
  accepted: string | undefined,
  codings: readonly Coding[],
): Coding | undefined {
  if (codings.length === 0 || accepted === undefined) return undefined;
  const key = `${codings.join()} ${accepted}`;
  let best = parsed.get(key);
  if (best === undefined) {
    const offered = [...codings, IDENTITY];
    [best = IDENTITY] = new Negotiator({ headers: { 'accept-encoding': accepted } }).encodings(offered, {
      preferred: offered,
    });
    if (key.length <= LONGEST_REMEMBERED) parsed.set(key, best);
  }
  return codings.find((coding) => coding === best);
}
