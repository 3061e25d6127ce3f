import { diffArrays } from 'diff';
import type { ProofFinding } from '../contract/proof.ts';
import { type Identify, type Identity, isSameTarget } from './identify-url.ts';
import type { Visit } from './visit.ts';

type Finding = Omit<ProofFinding, 'viewport'>;
/** What a picture doesn't show; `again` is a second visit to the origin: what differs there isn't compared. */
type Visits = { origin: Visit; again: Visit | undefined; bundle: Visit };

/** Findings of one kind that are listed. */
const MAX_LISTED = 5;
const MAX_CHARACTERS = 160;

/** Compares all but the pictures. */
export function compareVisits(visits: Visits, identify: Identify): Finding[] {
  return [
    ...comparePage(visits, identify),
    ...compareText(visits),
    ...listed('link', compareLinks(visits, identify)),
    ...listed('image', compareImages(visits, identify)),
    ...listed('request', newRequests(visits, identify)),
    ...listed('console', newErrors(visits, identify)),
  ];
}

function listed(kind: Finding['kind'], texts: readonly string[]): Finding[] {
  const more = texts.length - MAX_LISTED;
  const shown = texts.slice(0, MAX_LISTED).map((text) => ({ kind, text }));
  return more > 0 ? [...shown, { kind, text: `and ${more} more` }] : shown;
}

function comparePage({ origin, again, bundle }: Visits, identify: Identify): Finding[] {
  const [expected, found] = [identify(origin.url), identify(bundle.url)];
  const isSame = isSameTarget(expected, found) || (again !== undefined && identify(again.url).key === found.key);
  return isSame ? [] : [{ kind: 'page', text: `shows ${found.shown} instead of ${expected.shown}` }];
}

function compareText({ origin, again, bundle }: Visits): Finding[] {
  const packed = (text: string): string => text.replace(/\s+/g, '');
  if (packed(origin.text) === packed(bundle.text)) return [];
  if (again !== undefined && packed(again.text) === packed(bundle.text)) return [];
  const wordsOf = (text: string): string[] => text.split(/\s+/).filter(Boolean);
  const expected = wordsOf(origin.text);
  const unstable = again === undefined ? new Set<number>() : changedAt(expected, wordsOf(again.text));
  const parts: { removed: string; added: string }[] = [];
  let at = 0;
  for (const { added, removed, value } of diffArrays(expected, wordsOf(bundle.text), { timeout: 5_000 }) ?? []) {
    if (!added && !removed) at += value.length;
    else if (removed) {
      if (value.some((_, index) => !unstable.has(at + index))) parts.push({ removed: value.join(' '), added: '' });
      at += value.length;
    } else if (!unstable.has(at) && !unstable.has(at - 1)) {
      const last = parts.at(-1);
      if (last !== undefined && last.added === '') last.added = value.join(' ');
      else parts.push({ removed: '', added: value.join(' ') });
    }
  }
  // Words that only scripts separate differently.
  const changed = parts.filter(({ removed, added }) => packed(removed) !== packed(added));
  return listed('text', changed.map(textOfChange));
}

/** The indexes of words that another visit doesn't have. */
function changedAt(words: readonly string[], others: readonly string[]): Set<number> {
  const changed = new Set<number>();
  let at = 0;
  for (const { added, removed, value } of diffArrays([...words], [...others], { timeout: 5_000 }) ?? []) {
    if (added) changed.add(at);
    else {
      if (removed) for (let index = 0; index < value.length; index += 1) changed.add(at + index);
      at += value.length;
    }
  }
  return changed;
}

function textOfChange({ removed, added }: { removed: string; added: string }): string {
  if (added === '') return `lacks “${cut(removed)}”`;
  return removed === '' ? `has “${cut(added)}”, which the origin lacks` : `“${cut(removed)}” is “${cut(added)}”`;
}

function cut(text: string): string {
  return text.length > MAX_CHARACTERS ? `${text.slice(0, MAX_CHARACTERS)}…` : text;
}

function compareLinks({ origin, again, bundle }: Visits, identify: Identify): string[] {
  const isStable = again === undefined || again.links.length === origin.links.length;
  // Links that each visit has in another number can't be compared one by one.
  if (!isStable) return [];
  if (origin.links.length !== bundle.links.length)
    return [`has ${bundle.links.length} links, the origin ${origin.links.length}`];
  return origin.links.flatMap(({ href, text }, index) => {
    const expected = identify(href);
    const found = identify(bundle.links[index]?.href ?? '');
    if (again !== undefined && identify(again.links[index]?.href ?? '').key !== expected.key) return [];
    if (!isSameTarget(expected, found)) return [`“${cut(text)}” leads to ${found.shown}, not ${expected.shown}`];
    return leavesBundle(found, bundle) ? [`“${cut(text)}” leads to the origin, ${found.shown}`] : [];
  });
}

/** A link to a page's own URL at the origin is what a router made of its canonical URL. */
function leavesBundle({ leavesBundle: leaves, shown }: Identity, { url }: Visit): boolean {
  return leaves && URL.canParse(shown) && new URL(shown).pathname !== new URL(url).pathname;
}

function compareImages({ origin, again, bundle }: Visits, identify: Identify): string[] {
  if (again !== undefined && again.images.length !== origin.images.length) return [];
  if (origin.images.length !== bundle.images.length)
    return [`has ${bundle.images.length} images, the origin ${origin.images.length}`];
  return origin.images.flatMap((image, index) => {
    const found = bundle.images[index];
    const other = again?.images[index];
    const isStable = other === undefined || (other.src === image.src && other.width === image.width);
    if (found === undefined || !isStable) return [];
    const [expected, shown] = [identify(image.src), identify(found.src)];
    const isData = (url: string): boolean => /^(data|blob):/.test(url);
    if (!isSameTarget(expected, shown) && !isData(image.src) && !isData(found.src))
      return [`shows ${cut(shown.shown)} instead of ${cut(expected.shown)}`];
    if (found.width === image.width && found.height === image.height) return [];
    const sizes = `${found.width}×${found.height} pixels, ${image.width}×${image.height} at the origin`;
    return [`${cut(expected.shown)}: ${sizes}`];
  });
}

/** A link without a protocol has that of its page. */
function requestKey(url: string, identify: Identify): string {
  return identify(url).key.replace(/^https?:|[?#].*$/gs, '');
}

function failedAtOrigin({ origin, again }: Visits, identify: Identify): Set<string> {
  const failed = [...origin.failedRequests, ...(again?.failedRequests ?? [])];
  return new Set(failed.map(({ url }) => requestKey(url, identify)));
}

function newRequests(visits: Visits, identify: Identify): string[] {
  const failedThere = failedAtOrigin(visits, identify);
  const failed = new Map(visits.bundle.failedRequests.map((each) => [requestKey(each.url, identify), each]));
  return [...failed].flatMap(([key, { url, reason }]) =>
    failedThere.has(key) ? [] : [`${cut(identify(url).shown)}: ${reason}`],
  );
}

/** Other hosts that the page needs at the origin as well: in the bundle they fail because it has no network. */
export function hostsWithoutNetwork({ origin, bundle }: Omit<Visits, 'again'>, identify: Identify): string[] {
  const failed = bundle.failedRequests.flatMap(({ url }) => identify(url).host ?? []);
  return [...new Set(failed)].filter((host) => origin.hosts.has(host));
}

const URLS = /\bhttps?:\/\/[^\s'")]+/g;

/** What a browser says of a file that the origin lacks too depends on the type of the response that says so. */
function newErrors(visits: Visits, identify: Identify): string[] {
  const { origin, again, bundle } = visits;
  const failedThere = failedAtOrigin(visits, identify);
  // URLs, positions and sizes differ between servers.
  const keyOf = (text: string): string => text.replace(URLS, '').replace(/\d+/g, '#');
  const known = new Set([...origin.consoleErrors, ...(again?.consoleErrors ?? [])].map(keyOf));
  const errors = new Map(bundle.consoleErrors.map((text) => [keyOf(text), text]));
  const isOfMissing = (text: string): boolean =>
    (text.match(URLS) ?? []).some((url) => URL.canParse(url) && failedThere.has(requestKey(url, identify)));
  return [...errors].flatMap(([key, text]) => (known.has(key) || isOfMissing(text) ? [] : [cut(text)]));
}
