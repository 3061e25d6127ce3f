import { decodeBytes, encodeBytes } from './spanned-text.ts';

/**
 * The places of a page that a fragment can name, and the fragments of its links. `ids`: a 32-bit hash of each id as base64
 * (`readIds`); left out if scripts may make others. `links`: the index of a resource (-1: the page itself) and a fragment
 * as it is written.
 */
export type Anchors = { ids?: string; links: [resource: number, fragment: string][] };

/** Its own links must lead to this many ids of a page with scripts: its ids are then in the HTML, not made by scripts. */
const MIN_LANDED = 2;
const OWN_PAGE = -1;
/** Routes and parameters, which scripts read. */
const FOR_SCRIPTS = /^[/!]|[=?]/;
const MAX_FRAGMENT_LENGTH = 1_000;

/** Collects the ids of one page and the fragments of its links. Texts are latin1, as the scanner reads them. */
export class AnchorCollector {
  private readonly ids = new Set<number>();
  private readonly links = new Map<number, Set<string>>();

  addId(text: string): void {
    if (text !== '') this.ids.add(hashOfId(decodeBytes(text)));
  }

  /** `resource`: what the link leads to without its fragment; undefined: the page itself. */
  addLink(resource: number | undefined, written: string): void {
    const fragment = namedFragment(decodeBytes(written));
    if (fragment === undefined) return;
    const fragments = this.links.get(resource ?? OWN_PAGE) ?? new Set();
    this.links.set(resource ?? OWN_PAGE, fragments.add(fragment));
  }

  /** Undefined if there are none. */
  finish(hasScripts: boolean): Anchors | undefined {
    const own = this.links.get(OWN_PAGE) ?? new Set();
    let landed = 0;
    for (const fragment of own) {
      if (!hashesOf(fragment).some((hash) => this.ids.has(hash))) continue;
      own.delete(fragment);
      landed += 1;
    }
    const isKnown = !hasScripts || landed >= MIN_LANDED;
    const links = [...this.links].flatMap(([resource, fragments]) =>
      [...fragments].map((fragment): Anchors['links'][number] => [resource, fragment]),
    );
    if (!isKnown) return links.length === 0 ? undefined : { links };
    const ids = Buffer.from(Uint32Array.from(this.ids).buffer).toString('base64');
    return { ids, links };
  }
}

/** What a fragment names; undefined if that is the top of the page, a text of it, or something for a script. */
function namedFragment(written: string): string | undefined {
  const [fragment = ''] = written.replace(/[\t\n\r]/g, '').split(':~:');
  const isForOthers = fragment.length > MAX_FRAGMENT_LENGTH || FOR_SCRIPTS.test(fragment);
  return fragment === '' || isForOthers || fragment.toLowerCase() === 'top' ? undefined : fragment;
}

/** The hashes of the ids that a fragment can name: as it is, and without its percent-escapes (HTML, "the indicated part"). */
export function hashesOf(fragment: string): number[] {
  const raw = hashOfId(fragment);
  return fragment.includes('%') ? [raw, hashOfId(percentDecoded(fragment))] : [raw];
}

/** Never throws, unlike `decodeURIComponent`: an escape that isn't one stays. */
function percentDecoded(text: string): string {
  const ofByte = (hex: string): string => String.fromCharCode(Number.parseInt(hex.slice(1), 16));
  return decodeBytes(encodeBytes(text).replace(/%[0-9a-f]{2}/gi, ofByte));
}

/** FNV-1a. A page has so few ids that two of them hardly ever have the same hash. */
function hashOfId(id: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < id.length; at += 1) hash = Math.imul(hash ^ id.charCodeAt(at), 0x01000193);
  return hash >>> 0;
}

/** The hashes of a page's ids, from `Anchors.ids`. */
export function readIds(ids: string): Uint32Array {
  const bytes = Uint8Array.from(Buffer.from(ids, 'base64'));
  return new Uint32Array(bytes.buffer, 0, Math.floor(bytes.length / Uint32Array.BYTES_PER_ELEMENT));
}
