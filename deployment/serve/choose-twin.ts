import { LRUCache } from 'lru-cache';
import Negotiator from 'negotiator';
import type { BundleFile } from '../../contract/bundle.ts';
import type { ServedSite } from '../site.ts';

/** Browsers and agents send few different headers. */
const prefersMarkdown = new LRUCache<string, boolean>({ max: 500 });
const LONGEST_REMEMBERED = 500;

/**
 * The file to send for a page: its twin in Markdown if the Accept header prefers that (RFC 9110, 12.5.1). The page if both
 * are equally welcome by the same range, such as any type, and if neither is.
 */
export function chooseTwin(site: ServedSite, file: BundleFile, accepted: string | undefined): BundleFile {
  const twin = site.twin(file);
  if (twin === undefined || accepted === undefined) return file;
  let isPreferred = prefersMarkdown.get(accepted);
  if (isPreferred === undefined) {
    const [best] = new Negotiator({ headers: { accept: accepted } }).mediaTypes(['text/html', 'text/markdown']);
    isPreferred = best === 'text/markdown';
    if (accepted.length <= LONGEST_REMEMBERED) prefersMarkdown.set(accepted, isPreferred);
  }
  return isPreferred ? twin : file;
}
