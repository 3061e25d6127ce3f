import { type ParsedResponse, parseResponse, type ResponseToParse } from '../crawl/read-response.ts';
import type { Site } from '../urls/types.ts';

export { makePiece } from '../assemble/make-piece.ts';

// What a thread of the pool can do: tasks of one argument.

export function parse({ response, site }: { response: ResponseToParse; site: Site }): ParsedResponse {
  return parseResponse(response, site);
}
