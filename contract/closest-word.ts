/** The candidate closest to a mistyped word; undefined if none is close. */
export function closest(word: string, candidates: readonly string[]): string | undefined {
  const near = candidates
    .map((candidate) => ({ candidate, distance: editDistance(word.toLowerCase(), candidate.toLowerCase()) }))
    .filter(({ candidate, distance }) => distance <= Math.max(1, Math.floor(candidate.length / 3)))
    .sort((a, b) => a.distance - b.distance);
  return near[0]?.candidate;
}

/** How many letters to insert, remove, replace, or swap with their neighbor (optimal string alignment). */
export function editDistance(from: string, to: string): number {
  const [source, letters] = [[...from], [...to]];
  let above: number[] = [];
  let row = Array.from({ length: letters.length + 1 }, (_, index) => index);
  for (const [i, letter] of source.entries()) {
    const next = [i + 1];
    for (const [j, other] of letters.entries()) {
      const replaced = (row[j] ?? 0) + (letter === other ? 0 : 1);
      const isSwap = i > 0 && j > 0 && letter === letters[j - 1] && source[i - 1] === other;
      const swapped = isSwap ? (above[j - 1] ?? 0) + 1 : replaced;
      next.push(Math.min(replaced, swapped, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    }
    [above, row] = [row, next];
  }
  return row[letters.length] ?? 0;
}
