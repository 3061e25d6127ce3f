/** The program of the process that makes a search (start-indexer.ts). */
import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { createIndex, type PagefindIndex } from 'pagefind';
import { serveBoundedJobs } from '../../base/bounded-program.ts';
import { SEARCH_FOLDER, SHORTCUT_PATH } from '../urls/assign-path.ts';
import { boundIndex, type IndexedLanguage } from './bound-index.ts';
import type { IndexWork, SearchLanguage } from './index-messages.ts';
import { SEARCH_PAGE } from './plan-search.ts';
import { preparePage } from './prepare-page.ts';
import { createSearchPage } from './search-page.ts';
import { asset, shortcutScript } from './shortcut.ts';
import { createStartPages } from './start-pages.ts';
import { writeTitleFiles } from './title-files.ts';

let making: Promise<PagefindIndex> | undefined;
const pages: Array<{ path: string; language: string; titles: string[] }> = [];
const startPages = createStartPages();

// Pagefind's own program, in the same group, may be stuck. This is before what ends this process.
process.on('disconnect', () => process.kill(-process.pid, 'SIGKILL'));
await serveBoundedJobs<IndexWork>(async (job) => {
  making ??= createPagefindIndex();
  const index = await making;
  if ('finish' in job) return { languages: await finish(index, job.finish.folder) };
  await addPage(index, job.page);
  return { isAdded: true };
});

async function createPagefindIndex(): Promise<PagefindIndex> {
  const { index, errors } = await createIndex();
  if (index === undefined) throw new Error(errors.join('; '));
  return index;
}

async function addPage(index: PagefindIndex, page: { path: string; html: string }): Promise<void> {
  const { html: content, language, title, heading, isRedirect } = preparePage(page.html);
  if (isRedirect) return;
  const { errors } = await index.addHTMLFile({ url: page.path, content });
  if (errors.length > 0) throw new Error(`${page.path}: ${errors.join('; ')}`);
  pages.push({ path: page.path, language, titles: [title, heading] });
  startPages.add(language, page);
}

async function finish(index: PagefindIndex, bundle: string): Promise<SearchLanguage[]> {
  if (pages.length === 0) throw new Error('there is no page to search');
  const folder = join(bundle, SEARCH_FOLDER);
  const { errors } = await index.writeFiles({ outputPath: folder });
  if (errors.length > 0) throw new Error(errors.join('; '));
  const languages = (await boundIndex(folder)).sort((a, b) => b.pageCount - a.pageCount);
  const main = languages[0]?.language ?? '';
  const titled = pages.map(({ language, ...page }) => ({ ...page, language: language || main }));
  const bucketCount = await writeTitleFiles(join(folder, 'titles'), titled);
  const made: SearchLanguage[] = [];
  for (const each of languages) {
    const page = await writeSearchPage(bundle, each, { isMain: each.language === main, bucketCount });
    made.push({ language: each.language, pageCount: each.pageCount, page });
  }
  const byLanguage = Object.fromEntries(made.map(({ language, page }) => [language, page]));
  await writeFile(join(bundle, SHORTCUT_PATH), shortcutScript({ ...byLanguage, '': highest(made) }));
  for (const name of ['search.js', 'search.css'] as const) await copyFile(asset(name), join(folder, name));
  return made;
}

/** The search page for pages in another language. */
function highest(made: readonly SearchLanguage[]): string {
  const depth = ({ page }: SearchLanguage): number => page.split('/').length;
  return made.toSorted((a, b) => depth(a) - depth(b))[0]?.page ?? '';
}

/** Two languages of one folder have pages of different names. */
const written = new Set<string>();

/** Returns the page's path in the bundle. */
async function writeSearchPage(
  bundle: string,
  { language, commonWords }: IndexedLanguage,
  { isMain, bucketCount }: { isMain: boolean; bucketCount: number },
): Promise<string> {
  const startPage = startPages.of(language, { isMain });
  if (startPage === undefined) throw new Error(`${language} has no start page`);
  const inFolder = (name: string): string => startPage.path.replace(/[^/]*$/, name);
  const first = inFolder(SEARCH_PAGE);
  const path = written.has(first) ? inFolder(SEARCH_PAGE.replace('.', `-${language}.`)) : first;
  written.add(path);
  const html = createSearchPage(startPage, { language, commonWords, bucketCount });
  await mkdir(dirname(join(bundle, path)), { recursive: true });
  await writeFile(join(bundle, path), html);
  return path;
}
