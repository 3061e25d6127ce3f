import { createHash, hash } from 'node:crypto';
import type { Logger } from 'pino';
import type { LeasedUrl, Visited } from '../crawl-records.ts';
import { documentFormat, readDocument } from '../document/document.ts';
import { extract, parseExtraction, serializeExtraction } from '../document/extract.ts';
import { readResponseDocument } from '../document/header-elements.ts';
import { importSpecifiers } from '../document/javascript/extract-script.ts';
import { addModuleImports, importMapsOf, type ModuleImports } from '../document/javascript/import-map.ts';
import type { DocumentFormat, Extraction, FetchedDocument, PageDocument } from '../document/types.ts';
import { errorMessage } from '../fetch/error-code.ts';
import type { FetchedResponse, Fetcher } from '../ports.ts';
import type { ExportSettings } from '../settings.ts';
import { assignPath } from '../urls/assign-path.ts';
import type { Resource, Site } from '../urls/identity.ts';
import { isOfSite, isWanted, normalizeUrl, originUrl } from '../urls/identity.ts';
import { isWrongGuess, kindOfRank } from '../urls/resource-rank.ts';

/** Calls the functions of the same names where they may end their process. */
export type ResponseParser = {
  parseResponse(response: ResponseToParse): Promise<ParsedResponse>;
  moduleImports(module: FetchedDocument): Promise<string[]>;
};

type ReadDeps = {
  logger: Logger;
  importsOf: ModuleImports;
  computing: ResponseParser;
};

/** Turns a complete response into a file and extracts its references. Rejects if `importsOf` or the parser does. */
export async function readResponse(
  { logger, importsOf, computing }: ReadDeps,
  { site }: ExportSettings,
  leased: LeasedUrl,
  response: FetchedResponse,
): Promise<Visited> {
  const { url, rank, id, charset } = leased;
  const {
    body,
    contentType: declared,
    headElements,
    nofollow = false,
    attachment = false,
    rendered = false,
  } = response;
  const inherited = charset ?? undefined;
  const toParse = { url, site, contentType: declared, body, headElements, nofollow, attachment, rendered, inherited };
  const parsed = await computing.parseResponse(toParse);
  const { contentType, sha256, extraction, resources, failure } = parsed;
  const unread = failure ?? parsed.incomplete;
  const bytes = parsed.bytes ?? body;
  const isPage = parsed.format === 'html' && isOfSite(url, site);
  const path = assignPath({ url, contentType, kind: kindOfRank(rank) }, site);
  const file = { id, outcome: 'file', status: response.status, contentType, isPage, bytes, path } as const;
  // One unreadable document must not fail the export.
  if (unread !== undefined) logger.warn({ reason: unread, url }, 'A document could not be read, or not to its end');

  const leadsNowhere = isWrongGuess({ url, rank, contentType });
  const followed = (found: readonly Resource[]): readonly Resource[] => (leadsNowhere ? [] : found);
  const givesCharset = resources.some((resource) => resource.charset !== undefined);
  if (unread === undefined && !parsed.hasImportMaps && !givesCharset) {
    const result = { ...file, sha256, extraction };
    return { leased, result, resources: followed(resources), needsRereading: charset !== null };
  }
  const own = parsed.hasImportMaps ? parseExtraction(Buffer.from(extraction).toString('utf8')) : undefined;
  const whole = own && (leadsNowhere ? own : await addModuleImports(own, { site, importsOf }));
  const serialized = whole === undefined ? extraction : Buffer.from(serializeExtraction(whole));
  // The hash also covers the imports and what could not be read, so the next export reads and rewrites such a page again.
  // So it does with one that gives texts its charset, which the tables of links don't hold.
  const hashed = unread === undefined ? serialized : Buffer.from('unread');
  const result = { ...file, sha256: sha256OfBoth(bytes, hashed), extraction: serialized, reason: unread };
  return { leased, result, resources: followed(whole?.resources ?? resources), needsRereading: true };
}

export type ResponseToParse = {
  url: string;
  site: Site;
  contentType: string;
  body: Uint8Array;
  headElements: string | undefined;
  /** As in `FetchedDocument`. */
  inherited?: string | undefined;
  nofollow: boolean;
  /** A browser saves the body instead of showing it. */
  attachment: boolean;
  /** A browser rendered the body. The scripts of such a page start by themselves if they can. */
  rendered: boolean;
};

/** A document and its references. */
export type ParsedResponse = {
  contentType: string;
  format: DocumentFormat;
  /** The document to store, in UTF-8; undefined if it is the body, byte by byte. */
  bytes: Uint8Array | undefined;
  /** The hash of the document to store, in hexadecimal. */
  sha256: string;
  /** The result of `serializeExtraction`; empty if the document has no references that are read. */
  extraction: Uint8Array;
  resources: Resource[];
  /** The page maps the imports of modules, which must be read too. */
  hasImportMaps: boolean;
  /** Why its references could not be read. Such a document is bundled unchanged. */
  failure: string | undefined;
  /** Why its end was not read. Such a document is rewritten. */
  incomplete?: string | undefined;
};

/** A response that was not read. Its bytes stay as they are. */
export function unreadResponse({ url, body, contentType }: ResponseToParse, failure: string): ParsedResponse {
  const document = { contentType, format: documentFormat(contentType, url), bytes: undefined };
  return { ...document, ...NOTHING_READ, sha256: hash('sha256', body), failure };
}

const NOTHING_READ = { extraction: new Uint8Array(), resources: [], hasImportMaps: false };

/** Reads a complete response. Pure; never throws, but a hostile document may end the process. */
export function parseResponse(response: ResponseToParse): ParsedResponse {
  const { url, site, body, headElements, inherited, nofollow, attachment, rendered } = response;
  // No page, although its type is that of one: its bytes are what a browser saves.
  if (attachment && documentFormat(response.contentType, url) === 'html') {
    const { contentType } = response;
    return {
      contentType,
      format: 'other',
      bytes: undefined,
      ...NOTHING_READ,
      sha256: hash('sha256', body),
      failure: undefined,
    };
  }
  const fetched = { bytes: body, contentType: response.contentType, url, inherited };
  const read = readResponseDocument(fetched, headElements, site);
  const { bytes, contentType, format } = read;
  const document = { contentType, format, bytes: bytes === body ? undefined : bytes, sha256: hash('sha256', bytes) };
  if (format === 'other') return { ...document, ...NOTHING_READ, failure: undefined };
  const extracted = tryExtract({ ...read, url, nofollow }, site);
  if (typeof extracted === 'string') return unreadResponse(response, extracted);
  const extraction = rendered ? { ...extracted, framework: null } : extracted;
  return {
    ...document,
    extraction: Buffer.from(serializeExtraction(extraction)),
    resources: extraction.resources,
    hasImportMaps: importMapsOf(extraction).length > 0,
    failure: undefined,
    incomplete: extraction.incomplete,
  };
}

function tryExtract(document: PageDocument, site: Site): Extraction | string {
  try {
    return extract(document, site);
  } catch (error) {
    return errorMessage(error);
  }
}

/** The hash of both parts in sequence, in hexadecimal. */
function sha256OfBoth(first: Uint8Array, second: Uint8Array): string {
  return createHash('sha256').update(first).update(second).digest('hex');
}

/** The specifiers that a module imports; none if it isn't a script. */
export function moduleImports(module: FetchedDocument): string[] {
  const { bytes, format } = readDocument(module);
  return format === 'js' ? importSpecifiers(Buffer.from(bytes).toString('latin1')) : [];
}

const MAX_REDIRECTS = 5;

/**
 * Reads the imports of modules and caches them, because many pages load the same ones. Fetches only what the export may
 * fetch; a module that can't be fetched counts as one without imports.
 */
export function createModuleReader(
  { fetcher, computing }: { fetcher: Pick<Fetcher, 'get'>; computing: Pick<ResponseParser, 'moduleImports'> },
  settings: Pick<ExportSettings, 'site' | 'external' | 'keepHosts'>,
  signal: AbortSignal,
): ModuleImports {
  const { site } = settings;
  const known = new Map<string, Promise<readonly string[]>>();

  async function read(url: string): Promise<readonly string[]> {
    let current = url;
    for (let hop = 0; hop <= MAX_REDIRECTS; hop += 1) {
      if (!isWanted({ url: current, kind: 'asset' }, site, settings)) return [];
      const fetched = await fetcher.get(new URL(originUrl(current, site)), { signal });
      if (fetched.kind === 'response') {
        return computing.moduleImports({ bytes: fetched.body, contentType: fetched.contentType, url: current });
      }
      const target = fetched.kind === 'redirect' ? normalizeUrl(fetched.location.href, site) : undefined;
      if (target === undefined) return [];
      current = target;
    }
    return [];
  }

  return (url) => {
    const reading = known.get(url) ?? read(url);
    known.set(url, reading);
    return reading;
  };
}
