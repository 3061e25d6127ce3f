import type { IncomingMessage } from 'node:http';
import Negotiator from 'negotiator';
import type { BundleFile } from '../contract/bundle.ts';

const IDENTITY = 'identity';

/**
 * The file or sibling that the request's Accept-Encoding prefers; the smallest of equally acceptable ones, because
 * browsers don't rank them. The file itself if nothing is acceptable, which RFC 9110 (12.5.3) allows and all clients
 * can read.
 * @param siblings smallest first
 */
export function chooseEncoding(
  { headers }: Pick<IncomingMessage, 'headers'>,
  file: BundleFile,
  siblings: readonly BundleFile[],
): BundleFile {
  const accepted = headers['accept-encoding'];
  if (siblings.length === 0 || accepted === undefined) return file;
  const codings = [...siblings.map(({ encoding = IDENTITY }) => encoding), IDENTITY];
  const [best] = new Negotiator({ headers }).encodings(codings, { preferred: codings });
  return siblings.find(({ encoding }) => encoding === best) ?? file;
}
