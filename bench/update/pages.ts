import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** The pages of a site in the order of the archive. `read(path, edition)`: some pages differ between two editions. */
export type Pages = {
  files: { path: string; byteLength: number }[];
  read(path: string, edition: 1 | 2): Promise<Buffer>;
};

const EDIT = Buffer.from('<p>Edition 2.</p>\n');
const PACKAGES = 220;

/** A pseudo-random generator from 0 to 1 (mulberry32). */
function randomNumbers(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** A share of the paths, chosen at random but alike in every run. */
function choose(paths: readonly string[], share: number): Set<string> {
  const random = randomNumbers(1);
  const chosen = new Set<string>();
  while (chosen.size < Math.max(1, Math.round(paths.length * share))) {
    chosen.add(paths[Math.floor(random() * paths.length)] ?? '');
  }
  return chosen;
}

/** Pages as javadoc writes them: about 28 kB on average, few of them large, with much text in common. */
export function generatedPages(count: number, share: number): Pages {
  const names = Array.from({ length: count }, (_, index) => {
    const folder = String(index % PACKAGES).padStart(3, '0');
    return `api/package-${folder}/Class${String(index).padStart(6, '0')}.html`;
  });
  const changed = choose(names, share);
  const read: Pages['read'] = async (path, edition) => {
    const page = javadocPage(path);
    return edition === 2 && changed.has(path) ? Buffer.concat([page, EDIT]) : page;
  };
  const files = names.sort().map((path) => ({ path, byteLength: javadocPage(path).length }));
  return { files, read };
}

const WORDS = Array.from({ length: 3_000 }, (_, index) => {
  const random = randomNumbers(index + 7);
  return Array.from({ length: 3 + Math.floor(random() * 8) }, () => String.fromCharCode(97 + random() * 26)).join('');
});

function javadocPage(path: string): Buffer {
  const random = randomNumbers(Number(/\d{6}/.exec(path)?.[0]));
  const word = (): string => WORDS[Math.floor(random() ** 3 * WORDS.length)] ?? '';
  // An exponential distribution.
  const methods = 4 + Math.floor(-Math.log(1 - random()) * 28);
  const lines = Array.from({ length: methods }, () => {
    const [name, type] = [`${word()}${word()}`, word()];
    const text = Array.from({ length: 30 }, word).join(' ');
    return `<section class="detail" id="${name}(${type})">\n<h3>${name}</h3>\n<div class="member-signature"><span class="modifiers">public</span>&nbsp;<span class="return-type"><a href="../${type}.html" title="class in ${type}">${type}</a></span>&nbsp;<span class="element-name">${name}</span></div>\n<div class="block">${text}.</div>\n<dl class="notes"><dt>Returns:</dt><dd>${word()} ${word()} ${word()}</dd></dl>\n</section>\n`;
  });
  return Buffer.from(`<!DOCTYPE html>\n<title>${path}</title>\n${NAVIGATION}${lines.join('')}</html>\n`);
}

const NAVIGATION = Array.from(
  { length: 60 },
  (_, index) =>
    `<li class="nav-bar-cell${index}"><a href="../../package-${index}/summary.html">Overview ${index}</a></li>\n`,
).join('');

/** The files of a folder, such as an unpacked manual. */
export async function folderPages(folder: string, share: number): Promise<Pages> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name).slice(folder.length + 1))
    .sort();
  const changed = choose(
    paths.filter((path) => path.endsWith('.html')),
    share,
  );
  const files = await Promise.all(
    paths.map(async (path) => ({ path, byteLength: (await stat(join(folder, path))).size })),
  );
  const read: Pages['read'] = async (path, edition) => {
    const bytes = await readFile(join(folder, path));
    return edition === 2 && changed.has(path) ? Buffer.concat([bytes, EDIT]) : bytes;
  };
  return { files, read };
}
