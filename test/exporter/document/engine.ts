import { readDocument } from '../../../exporter/document/document.ts';
import { extract } from '../../../exporter/document/extract.ts';
import { rewrite } from '../../../exporter/document/rewrite.ts';
import type { Extraction, RewritePolicy, Target } from '../../../exporter/document/types.ts';
import { assignPath } from '../../../exporter/urls/assign-path.ts';
import type { Resource, Site } from '../../../exporter/urls/identity.ts';

export const SITE: Site = { domain: 'docs.example.com', origin: 'http://127.0.0.1:8080' };
export const AUTO: RewritePolicy = { scripts: 'auto', external: 'bundle', sourceMaps: 'omit' };

export type Sample = { text: string | Uint8Array; type?: string; url?: string };

/** Extracts from a text as if it was fetched from `/guides/start`. */
export function extractFrom({ text, type = 'text/html; charset=utf-8', url = '/guides/start' }: Sample): Extraction {
  const bytes = typeof text === 'string' ? Buffer.from(text, 'utf8') : text;
  return extract(readDocument({ bytes, contentType: type, url: SITE.origin + url }), SITE);
}

/** The referenced URLs in order, as `kind url`. The site's own URLs have no scheme and domain. */
export function referencesOf(sample: Sample): string[] {
  const { references, resources } = extractFrom(sample);
  return references.map(([, , index]) => describeResource(resources[index]));
}

export function resourcesOf(sample: Sample, kind?: string): string[] {
  const { resources } = extractFrom(sample);
  return resources.filter((each) => kind === undefined || each.kind === kind).map(describeResource);
}

function describeResource(resource: Resource | undefined): string {
  if (resource === undefined) return 'nothing';
  return `${resource.kind} ${resource.url.replace(`https://${SITE.domain}`, '')}`;
}

/** A target as if the origin had every file, and HTML for every page without an extension. */
export function everything({ url, kind }: Resource): Target {
  const isPage = kind === 'page' && !/\.[a-z0-9]+(\?|$)/.test(new URL(url).pathname);
  return { path: assignPath({ url, contentType: isPage ? 'text/html' : '', kind }, SITE) };
}

export type RewriteSample = Sample & {
  target?: (resource: Resource) => Target;
  policy?: Partial<RewritePolicy>;
  ownPath?: string;
  /** Replaces the extraction from the text. */
  extraction?: Extraction;
};

/** Extracts and rewrites a text. Its own path follows from its URL by default. */
export function rewritten(sample: RewriteSample): string {
  const { text, type = 'text/html; charset=utf-8', url = '/guides/start', target = everything } = sample;
  const fetched = { bytes: Buffer.from(text), contentType: type, url: SITE.origin + url };
  const document = readDocument(fetched);
  const ownUrl = `https://${SITE.domain}${url}`;
  const ownPath = sample.ownPath ?? assignPath({ url: ownUrl, contentType: type, kind: 'page' }, SITE);
  const extraction = sample.extraction ?? extract(document, SITE);
  const policy = { ...AUTO, ...sample.policy };
  const result = rewrite({ bytes: document.bytes, extraction, site: SITE, url: ownUrl, ownPath, target, policy });
  return Buffer.from(result).toString('utf8');
}

/** Reads `«before→after»` marks: returns the text before and after it is rewritten. */
export function readMarks(marked: string): { before: string; after: string } {
  const mark = /«(.*?)→(.*?)»/gs;
  return { before: marked.replace(mark, '$1'), after: marked.replace(mark, '$2') };
}
