import { readFileSync } from 'node:fs';

/**
 * The script that opens the search page of a page's language: `pages` by language, `''` for all others. Without pages, it
 * does nothing.
 */
export function shortcutScript(pages: Readonly<Record<string, string>>): Buffer {
  const text = readFileSync(asset('shortcut.js'), 'utf8');
  return Buffer.from(text.replace('(PAGES)', () => `(${JSON.stringify(pages)})`));
}

/** A file that search pages load. */
export function asset(name: 'shortcut.js' | 'search.js' | 'search.css'): URL {
  return new URL(`assets/${name}`, import.meta.url);
}
