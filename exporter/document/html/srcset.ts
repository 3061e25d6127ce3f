/** The URL of one image candidate, as character positions in the attribute's value. */
export type SrcsetCandidate = { from: number; to: number };

const SPACE = /[\t\n\f\r ]/;

/**
 * Splits a `srcset` as the HTML standard does ("parse a srcset attribute"): a URL ends at the next space and loses
 * trailing commas, which end its candidate. Commas inside a URL or in parentheses of a descriptor don't.
 */
export function parseSrcset(value: string): SrcsetCandidate[] {
  const candidates: SrcsetCandidate[] = [];
  let index = 0;
  while (index < value.length) {
    while (index < value.length && (SPACE.test(value.charAt(index)) || value[index] === ',')) index += 1;
    if (index >= value.length) break;
    const from = index;
    while (index < value.length && !SPACE.test(value.charAt(index))) index += 1;
    let to = index;
    while (to > from && value[to - 1] === ',') to -= 1;
    if (to > from) candidates.push({ from, to });
    if (to === index) index = afterDescriptors(value, index);
  }
  return candidates;
}

function afterDescriptors(value: string, start: number): number {
  let inParentheses = false;
  for (let index = start; index < value.length; index += 1) {
    const character = value[index];
    if (character === '(') inParentheses = true;
    else if (character === ')') inParentheses = false;
    else if (character === ',' && !inParentheses) return index + 1;
  }
  return value.length;
}
