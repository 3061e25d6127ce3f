import { type Document, isAlias, isMap, isScalar, isSeq, type Pair, type YAMLMap } from 'yaml';

/** Aliases may refer to what they are part of. */
const MAX_MERGES = 100;

/**
 * The node of a key as Helm reads it, whose YAML is 1.1: the last one if the key is repeated, otherwise one that `<<`
 * merges from an anchor. Aliases are resolved; one without an anchor is returned as it is. Undefined if there is none.
 */
export function nodeOfKey(document: Document, map: unknown, name: string, merges = 0): unknown {
  const found = resolved(document, map);
  if (!isMap(found) || merges > MAX_MERGES) return undefined;
  const own = found.items.findLast(({ key }) => isScalar(key) && key.value === name);
  if (own !== undefined) return resolved(document, own.value);
  for (const { value } of found.items.filter(isMerge).reverse()) {
    const merged = resolved(document, value);
    for (const each of isSeq(merged) ? merged.items : [merged]) {
      const node = nodeOfKey(document, each, name, merges + 1);
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

function resolved(document: Document, node: unknown): unknown {
  return isAlias(node) ? (node.resolve(document) ?? node) : node;
}
