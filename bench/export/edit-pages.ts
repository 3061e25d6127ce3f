import { appendFile, readdir, utimes } from 'node:fs/promises';
import { join } from 'node:path';

/** Edits this share of a folder's pages. The seed determines which. Resolves with their number. */
export async function editPages(folder: string, { share, seed }: { share: number; seed: number }): Promise<number> {
  const names = (await readdir(folder, { recursive: true })).filter((name) => name.endsWith('.html')).sort();
  const count = Math.max(1, Math.round(names.length * share));
  const random = randomNumbers(seed);
  const chosen = new Set<string>();
  while (chosen.size < count) {
    const name = names[Math.floor(random() * names.length)];
    if (name !== undefined) chosen.add(name);
  }
  // `Last-Modified` has whole seconds: each edit needs a different one.
  const modified = new Date(Math.floor(Date.now() / 1_000) * 1_000 + seed * 1_000);
  for (const name of chosen) {
    const path = join(folder, name);
    await appendFile(path, `<p>Edition ${seed}.</p>\n`);
    await utimes(path, modified, modified);
  }
  return count;
}

/** Pseudo-random numbers from 0 to 1 (a 32-bit linear congruential generator). */
function randomNumbers(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
