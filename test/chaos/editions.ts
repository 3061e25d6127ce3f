import { page } from '../helpers/system/origin-site.ts';
import type { SeenPage } from './history.ts';

/** An edition of a site: pages that say which site, edition and path they are of. */

/** The pages that visitors read. */
export const READ_PATHS = ['/', '/about'] as const;
const MORE_PATHS = ['/one', '/two', '/three', '/four'];

/** Long enough to come in several parts. */
const FILLING = 'Galley. '.repeat(4_000);

/** @param fewerPages without the pages that visitors don't read, which a guard may hold */
export function editionPages(site: string, edition: number, fewerPages = false): Record<string, string> {
  const links = ['/about', ...(fewerPages ? [] : MORE_PATHS)];
  const text = (path: string): string => `[${site} ${edition} ${path}] ${FILLING} [end of ${edition}]`;
  return Object.fromEntries(['/', ...links].map((path) => [path, page(text(path), path === '/' ? links : [])]));
}

const TEXT = /\[(\w+) (\d+) (\/\w*)\]/;

export function readPage(path: string, text: string): SeenPage {
  const [, site = 'nobody', edition = '-1', said = ''] = TEXT.exec(text) ?? [];
  const isWhole = said === path && text.includes(`[end of ${edition}]`);
  return { path, site, edition: Number(edition), isWhole };
}
