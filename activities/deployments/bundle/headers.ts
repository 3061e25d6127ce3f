import { HASHED_CACHE_CONTROL, isHashed, SECURITY_HEADERS } from '../../../contract/response-headers.ts';
import { foldersOf } from './redirects.ts';

/** Cloudflare Pages reads no more rules. */
const MAX_RULES = 100;

/**
 * The headers of a deployment, as Netlify and Cloudflare Pages read `_headers`. Both revalidate pages by default, so only
 * hashed files get a `Cache-Control`: by folder if all files in it are hashed, otherwise one by one.
 */
export function headersFile(paths: readonly string[]): string {
  const rules = hashedPlaces(paths)
    .filter((place) => !/[:*\s\p{Cc}]/u.test(place.replace(/\/\*$/, '')))
    .sort((a, b) => Number(b.endsWith('/*')) - Number(a.endsWith('/*')))
    .slice(0, MAX_RULES - 1);
  const forAll = Object.entries(SECURITY_HEADERS).map(([name, value]) => `  ${name}: ${value}\n`);
  const cached = rules.map((place) => `${place}\n  Cache-Control: ${HASHED_CACHE_CONTROL}\n`);
  return ['/*\n', ...forAll, ...cached].join('');
}

/** Patterns for the hashed files, with the largest folders that have no other ones. */
function hashedPlaces(paths: readonly string[]): string[] {
  const mixed = new Set(paths.filter((path) => !isHashed(path)).flatMap(foldersOf));
  const places = paths.filter(isHashed).map((path) => {
    const folder = foldersOf(path).find((each) => !mixed.has(each));
    return folder === undefined ? `/${encodeURI(path)}` : `/${encodeURI(folder)}/*`;
  });
  return [...new Set(places)];
}
