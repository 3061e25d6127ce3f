import { createHash } from 'node:crypto';
import type { Logger } from 'pino';
import type { LeasedUrl } from '../crawl-records.ts';
import { assignPath } from '../document/assign-path.ts';
import { extract, serializeExtraction } from '../document/extract.ts';
import { readResponseDocument } from '../document/header-elements.ts';
import { addModuleImports, importMapsOf, type ModuleImports } from '../document/module-imports.ts';
import type { Extraction, PageDocument } from '../document/types.ts';
import { isOfSite } from '../document/url-identity.ts';
import type { FetchedResponse } from '../fetch/fetch-result.ts';
import type { ExportSettings } from '../settings.ts';
import { isWrongGuess } from './guessed-page.ts';
import { kindOfRank } from './resource-rank.ts';
import type { Visited } from './visited.ts';

/** Turns a complete response into a file and extracts its references. Rejects only if `importsOf` does. */
export async function readResponse(
  { logger, importsOf }: { logger: Logger; importsOf: ModuleImports },
  { site }: ExportSettings,
  leased: LeasedUrl,
  response: FetchedResponse,
): Promise<Visited> {
  const { url, rank, id } = leased;
  const { body, headElements } = response;
  const fetched = { bytes: body, contentType: response.contentType, url };
  const { bytes, contentType, format } = readResponseDocument(fetched, headElements, site);
  const file = {
    id,
    outcome: 'file',
    status: response.status,
    contentType,
    isPage: format === 'html' && isOfSite(url, site),
    bytes,
    sha256: sha256Of(bytes),
    path: assignPath({ url, contentType, kind: kindOfRank(rank) }, site),
  } as const;
  const opaque: Visited = { leased, result: { ...file, extraction: new Uint8Array() }, resources: [] };
  if (format === 'other') return opaque;
  const read = tryExtract({ bytes, contentType, url, format, nofollow: response.nofollow === true });
  if (read === undefined) return opaque;
  // The scripts of a rendered page start by themselves if they can.
  const own = response.rendered === true ? { ...read, framework: null } : read;
  const leadsNowhere = isWrongGuess({ url, rank, contentType });
  const extraction = leadsNowhere ? own : await addModuleImports(own, { site, importsOf });
  const serialized = Buffer.from(serializeExtraction(extraction));
  const dependsOnModules = importMapsOf(extraction).length > 0;
  // The hash also covers the imports, so the next export reads and rewrites such a page again.
  const sha256 = dependsOnModules ? sha256Of(bytes, serialized) : file.sha256;
  const result = { ...file, sha256, extraction: serialized };
  const resources = leadsNowhere ? [] : extraction.resources;
  return { leased, result, resources, ...(dependsOnModules && { dependsOnModules }) };

  function tryExtract(document: PageDocument): Extraction | undefined {
    try {
      return extract(document, site);
    } catch (error) {
      // One unreadable document must not fail the export: it is bundled unchanged.
      logger.error({ err: error, url }, 'A document could not be read; its links stay as they are');
      return undefined;
    }
  }
}

function sha256Of(...parts: readonly Uint8Array[]): string {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest('hex');
}
