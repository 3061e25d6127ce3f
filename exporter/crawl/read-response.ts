import type { Logger } from 'pino';
import type { LeasedUrl } from '../crawl-records.ts';
import { assignPath } from '../document/assign-path.ts';
import { parseExtraction, serializeExtraction } from '../document/extract.ts';
import { addModuleImports, type ModuleImports } from '../document/module-imports.ts';
import type { Resource } from '../document/types.ts';
import { isOfSite } from '../document/url-identity.ts';
import type { FetchedResponse } from '../fetch/fetch-result.ts';
import type { ExportSettings } from '../settings.ts';
import type { Computing } from '../threads/computing.ts';
import { isWrongGuess } from './guessed-page.ts';
import { sha256Of } from './parse-response.ts';
import { kindOfRank } from './resource-rank.ts';
import type { Visited } from './visited.ts';

type ReadDeps = { logger: Logger; importsOf: ModuleImports; computing: Pick<Computing, 'parseResponse'> };

/** Turns a complete response into a file and extracts its references. Rejects if `importsOf` or a thread does. */
export async function readResponse(
  { logger, importsOf, computing }: ReadDeps,
  { site }: ExportSettings,
  leased: LeasedUrl,
  response: FetchedResponse,
): Promise<Visited> {
  const { url, rank, id } = leased;
  const { body, contentType: declared, headElements, nofollow = false, rendered = false } = response;
  const toParse = { url, contentType: declared, body, headElements, nofollow, rendered };
  const parsed = await computing.parseResponse(toParse, site);
  if (parsed.failure !== undefined) {
    // One unreadable document must not fail the export.
    logger.error({ reason: parsed.failure, url }, 'A document could not be read; its links stay as they are');
  }
  const { contentType, sha256, extraction, resources } = parsed;
  const bytes = parsed.bytes ?? body;
  const isPage = parsed.format === 'html' && isOfSite(url, site);
  const path = assignPath({ url, contentType, kind: kindOfRank(rank) }, site);
  const file = { id, outcome: 'file', status: response.status, contentType, isPage, bytes, path } as const;

  const leadsNowhere = isWrongGuess({ url, rank, contentType });
  const followed = (found: readonly Resource[]): readonly Resource[] => (leadsNowhere ? [] : found);
  if (!parsed.hasImportMaps) return { leased, result: { ...file, sha256, extraction }, resources: followed(resources) };
  const own = parseExtraction(Buffer.from(extraction).toString('utf8'));
  const whole = leadsNowhere ? own : await addModuleImports(own, { site, importsOf });
  const serialized = Buffer.from(serializeExtraction(whole));
  // The hash also covers the imports, so the next export reads and rewrites such a page again.
  const result = { ...file, sha256: sha256Of(bytes, serialized), extraction: serialized };
  return { leased, result, resources: followed(whole.resources), dependsOnModules: true };
}
