import type { Extraction, PageDocument, Site } from './types.ts';

/**
 * Reads what a document refers to, with the spans at which it says so. Pure, linear in the document's size, and never
 * throws: broken markup yields what a browser would still see.
 */
export function extract(document: PageDocument, _site: Site): Extraction {
  return { format: document.format, framework: null, resources: [], references: [], marks: [] };
}

/** The extraction as stored text. */
export function serializeExtraction(extraction: Extraction): string {
  return JSON.stringify(extraction);
}

/** Reads what `serializeExtraction` wrote. */
export function parseExtraction(text: string): Extraction {
  return JSON.parse(text);
}
