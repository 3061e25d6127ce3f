import { folderPath, NOT_FOUND_PATH } from './assign-path.ts';
import { relativeLink } from './relative-link.ts';
import type { RewriteInput } from './types.ts';
import { isOfSite } from './url-identity.ts';

/** After byte `start`, the document's relative URLs are resolved against `folder` of the bundle. */
export type DocumentBase = { start: number; folder: string };

/**
 * The `<base>` that a document keeps. Scripts such as client-side routers may resolve URLs against it, so a base
 * within the site stays and becomes relative. A base on another host is removed. The not-found page gets its own base.
 */
export function documentBase({ extraction, site, ownPath }: RewriteInput): DocumentBase | undefined {
  if (ownPath === NOT_FOUND_PATH) return undefined;
  const mark = extraction.marks.find(([, , kind, note]) => kind === 'base' && typeof note === 'string');
  if (mark === undefined || typeof mark[3] !== 'string' || !isOfSite(mark[3], site)) return undefined;
  return { start: mark[0], folder: folderPath(mark[3], site) };
}

/** The base's `href`: a relative URL in ASCII that needs no escaping. */
export function baseLink(input: RewriteInput): string | undefined {
  const base = documentBase(input);
  return base === undefined ? undefined : relativeLink(input.ownPath, base.folder) || './';
}
