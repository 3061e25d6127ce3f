import {
  type Alias,
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  type Node,
  type Pair,
  visit,
  type YAMLMap,
} from 'yaml';

/** Aliases may refer to what they are part of. */
const MAX_MERGES = 100;

/**
 * The node of a key as Helm reads it, whose YAML is 1.1: the last one if the key is repeated, otherwise one that `<<`
 * merges from an anchor. Aliases are resolved; one without an anchor is returned as it is. Undefined if there is none.
 */
export function nodeOfKey(document: Document, map: unknown, name: string): unknown {
  return searchMerged(document, map, { name, merges: 0, searched: new Set() });
}

/** A mapping is searched once: merges of merges could ask the same one without end. */
type Search = { name: string; merges: number; searched: Set<unknown> };

function searchMerged(document: Document, map: unknown, { name, merges, searched }: Search): unknown {
  const found = resolved(document, map);
  if (!isMap(found) || merges > MAX_MERGES || searched.has(found)) return undefined;
  searched.add(found);
  const own = found.items.findLast(({ key }) => isScalar(key) && key.value === name);
  if (own !== undefined) return resolved(document, own.value);
  for (const { value } of found.items.filter(isMerge).reverse()) {
    const merged = resolved(document, value);
    for (const each of isSeq(merged) ? merged.items : [merged]) {
      const node = searchMerged(document, each, { name, merges: merges + 1, searched });
      if (node !== undefined) return node;
    }
  }
  return undefined;
}

/** The first key of a mapping that was there before, for example a second `<<`. */
export function repeatedKeyOf(map: YAMLMap): Pair | undefined {
  const found = new Set<unknown>();
  return map.items.find(({ key }) => {
    if (!isScalar(key)) return false;
    const isRepeated = found.has(key.value);
    found.add(key.value);
    return isRepeated;
  });
}

/** The key of a group that is there twice, or that of its second place at the top. */
export function repeatedInGroup(document: Document, name: string): Pair | undefined {
  if (!isMap(document.contents)) return undefined;
  const [first, second] = document.contents.items.filter(({ key }) => isScalar(key) && key.value === name);
  return second ?? (isMap(first?.value) ? repeatedKeyOf(first.value) : undefined);
}

function isMerge({ key }: Pair): boolean {
  return isScalar(key) && (key.value === '<<' || key.source === '<<') && key.type !== 'QUOTE_DOUBLE';
}

const targets = new WeakMap<Document, Map<Alias, Node | undefined>>();

/** What each alias refers to, found in one pass: the library's `resolve` walks through the document for each. */
function targetsOf(document: Document): Map<Alias, Node | undefined> {
  const known = targets.get(document);
  if (known !== undefined) return known;
  const anchors = new Map<string, Node>();
  const found = new Map<Alias, Node | undefined>();
  visit(document, {
    Node(_key, node) {
      if (isAlias(node)) found.set(node, anchors.get(node.source));
      else if (node.anchor !== undefined) anchors.set(node.anchor, node);
    },
  });
  targets.set(document, found);
  return found;
}

/** The first alias without an anchor before it. */
export function danglingAlias(document: Document): Alias | undefined {
  return [...targetsOf(document)].find(([, target]) => target === undefined)?.[0];
}

function resolved(document: Document, node: unknown): unknown {
  return isAlias(node) ? (targetsOf(document).get(node) ?? node) : node;
}
