import { folderPath, NOT_FOUND_PATH } from './assign-path.ts';
import { relativeLink } from './relative-link.ts';
import type { RewriteInput } from './types.ts';
import { isOfSite } from './url-identity.ts';

/** From the byte `start` on, a document's relative addresses are resolved against `folder` of the bundle. */
export type DocumentBase = { start: number; folder: string };

/**
 * The base that a document keeps. Its scripts may resolve addresses against it (client-side routers do), so a base
 * within the site stays, itself relative; one of another host would lead there and is taken out. The not-found page
 * has a base of our own.
 */
export function documentBase({ extraction, site, ownPath }: RewriteInput): DocumentBase | undefined {
  if (ownPath === NOT_FOUND_PATH) return undefined;
  const mark = extraction.marks.find(([, , kind, note]) => kind === 'base' && typeof note === 'string');
  if (mark === undefined || typeof mark[3] !== 'string' || !isOfSite(mark[3], site)) return undefined;
  return { start: mark[0], folder: folderPath(mark[3], site) };
}

/** The base as it is written: a relative address of ASCII that needs no escape. */
export function baseLink(input: RewriteInput): string | undefined {
  const base = documentBase(input);
  return base === undefined ? undefined : relativeLink(input.ownPath, base.folder) || './';
}
