import type { Site } from './identity.ts';

/** How the address of an origin is written in texts. */
export type OriginNames = {
  /** Part of each spelling, for a quick search. */
  host: string;
  /** Matches each spelling wherever it is: plain, with escaped slashes, and percent-encoded. */
  any: RegExp;
  /** The public spelling of a match. */
  publicName(found: string): string;
};

const known = new Map<string, OriginNames>();

/** The names of a site's origin; undefined if the origin is the public domain. */
export function originNames({ domain, origin }: Site): OriginNames | undefined {
  if (origin === `https://${domain}`) return undefined;
  const key = `${origin} ${domain}`;
  const names = known.get(key) ?? namesOf(origin, domain);
  // A process exports few sites, and the key of each is short.
  known.set(key, names);
  return names;
}

function namesOf(origin: string, domain: string): OriginNames {
  const [scheme = '', host = ''] = origin.split('//');
  const plain = `(?:${scheme})?(?:\\\\?/){2}${literal(host)}`;
  const encoded = `${scheme.replace(':', '%3A')}%2F%2F${literal(host).replace(':', '(?:%3A|:)')}`;
  return {
    host: host.split(':', 1)[0] ?? host,
    any: new RegExp(`(?:${plain}|${encoded})(?![\\w:-]|\\.\\w|%3A)`, 'gi'),
    publicName(found) {
      if (found.includes('%')) return `https%3A%2F%2F${domain}`;
      return /^\\?\//.test(found) ? `//${domain}` : `https://${domain}`;
    },
  };
}

function literal(text: string): string {
  return text.replace(/[.[\]]/g, '\\$&');
}
