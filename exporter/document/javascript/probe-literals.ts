import type { Collector } from '../collector.ts';

/** Files that a script may load by a literal URL. Not pages, because links and the sitemap already lead to them. */
const EXTENSIONS =
  'js|mjs|css|json|html|wasm|svg|png|jpe?g|gif|webp|avif|ico|woff2?|ttf|otf|eot|mp4|webm|mp3|ogg|wav|pdf|txt|xml|md|csv|bin|glb|gltf|webmanifest';
/**
 * A quoted path of plain characters. JSON in HTML often writes `/` as `\/`, and JSON in a script string has `\"`
 * quotes.
 */
const LITERAL = new RegExp(
  `["'\`]((?:\\.{0,2}\\\\?/)?[\\w@%.~-]+(?:\\\\?/[\\w@%.~-]+)*\\.(?:${EXTENSIONS}))(?:\\?[\\w=&.%-]*)?\\\\?["'\`]`,
  'g',
);

/**
 * Mentions files that string literals in a script seem to refer to: root-relative and relative paths, and paths such
 * as `assets/x.js` that bundlers write relative to the root. These are guesses and never rewritten.
 */
export function probeLiterals(text: string, collector: Collector): void {
  for (const [, path = ''] of text.matchAll(LITERAL)) {
    // Without the query, because the script stays unchanged and a static host ignores queries.
    const plain = path.replaceAll('\\/', '/');
    if (!plain.includes('/') || plain.length > 300) continue;
    if (/^\.{0,2}\//.test(plain)) collector.mention(plain, 'probe');
    else collector.mention(`/${plain}`, 'probe');
  }
}
