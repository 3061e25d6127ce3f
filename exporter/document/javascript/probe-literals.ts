import type { Collector } from '../collector.ts';

/** What a site's script may load by a literal address. Pages are left out: they are found by links and the sitemap. */
const EXTENSIONS =
  'js|mjs|css|json|html|wasm|svg|png|jpe?g|gif|webp|avif|ico|woff2?|ttf|otf|eot|mp4|webm|mp3|ogg|wav|pdf|txt|xml|md|csv|bin|glb|gltf|webmanifest';
/**
 * A quoted address of letters that need no care. `\/` is how JSON inside HTML often writes a slash, `\"` how a script
 * writes the quotes of JSON that it holds as text.
 */
const LITERAL = new RegExp(
  `["'\`]((?:\\.{0,2}\\\\?/)?[\\w@%.~-]+(?:\\\\?/[\\w@%.~-]+)*\\.(?:${EXTENSIONS}))(?:\\?[\\w=&.%-]*)?\\\\?["'\`]`,
  'g',
);

/**
 * Mentions what string literals of a script seem to name: root-absolute and relative paths of files, and paths such as
 * `assets/x.js` that bundlers write relative to the site's root. Guesses, so nothing of them is ever rewritten.
 */
export function probeLiterals(text: string, collector: Collector): void {
  for (const [, path = ''] of text.matchAll(LITERAL)) {
    // Without its query: nothing rewrites the script, and a static host answers any query with the plain file.
    const plain = path.replaceAll('\\/', '/');
    if (!plain.includes('/') || plain.length > 300) continue;
    if (/^\.{0,2}\//.test(plain)) collector.mention(plain, 'probe');
    else collector.mention(`/${plain}`, 'probe');
  }
}
