import { createHash } from 'node:crypto';
import { extract, serializeExtraction } from '../document/extract.ts';
import { readResponseDocument } from '../document/header-elements.ts';
import { importMapsOf } from '../document/module-imports.ts';
import type { DocumentFormat, Extraction, PageDocument, Resource, Site } from '../document/types.ts';
import { errorMessage } from '../fetch/error-code.ts';

export type ResponseToParse = {
  url: string;
  contentType: string;
  body: Uint8Array;
  headElements: string | undefined;
  nofollow: boolean;
  /** A browser rendered the body. The scripts of such a page start by themselves if they can. */
  rendered: boolean;
};

/** A document and its references. */
export type ParsedResponse = {
  contentType: string;
  format: DocumentFormat;
  /** The document to store, in UTF-8; undefined if it is the body, byte by byte. */
  bytes: Uint8Array | undefined;
  /** Of the document to store, in hexadecimal. */
  sha256: string;
  /** As `serializeExtraction` gives it; empty if the document has no references that are read. */
  extraction: Uint8Array;
  resources: Resource[];
  /** The page maps the imports of modules, which must be read too. */
  hasImportMaps: boolean;
  /** Why its references could not be read. Such a document is bundled unchanged. */
  failure: string | undefined;
};

/** Reads a complete response. Pure, so that any thread can do it; never throws. */
export function parseResponse(response: ResponseToParse, site: Site): ParsedResponse {
  const { url, body, headElements, nofollow, rendered } = response;
  const fetched = { bytes: body, contentType: response.contentType, url };
  const { bytes, contentType, format } = readResponseDocument(fetched, headElements, site);
  const document = { contentType, format, bytes: bytes === body ? undefined : bytes, sha256: sha256Of(bytes) };
  const unread = { ...document, extraction: new Uint8Array(), resources: [], hasImportMaps: false };
  if (format === 'other') return { ...unread, failure: undefined };
  const read = tryExtract({ bytes, contentType, url, format, nofollow }, site);
  if (typeof read === 'string') return { ...unread, failure: read };
  const extraction = rendered ? { ...read, framework: null } : read;
  return {
    ...document,
    extraction: Buffer.from(serializeExtraction(extraction)),
    resources: extraction.resources,
    hasImportMaps: importMapsOf(extraction).length > 0,
    failure: undefined,
  };
}

function tryExtract(document: PageDocument, site: Site): Extraction | string {
  try {
    return extract(document, site);
  } catch (error) {
    return errorMessage(error);
  }
}

/** In hexadecimal. */
export function sha256Of(...parts: readonly Uint8Array[]): string {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest('hex');
}
