import { readFileSync } from 'node:fs';
import {
  blocksOf,
  CONTAINER_BLOCKS,
  linesOf,
  NOT_RUN,
  pagesWithCommands,
  RUN_BY_OTHER_TESTS,
  RUN_ELSEWHERE,
  RUN_HERE,
} from './pages.ts';

describe('the commands of the pages', () => {
  it('run in a test, or the page says in a list why not', () => {
    const run = RUN_HERE.map((page) => page.replace(/#.*/, ''));
    expect(RUN_HERE.filter((page) => blocksOf(page).length === 0)).toEqual([]);
    const listed = new Set([...run, ...Object.keys(RUN_ELSEWHERE), ...Object.keys(NOT_RUN)]);
    expect([...listed].sort()).toEqual(pagesWithCommands());
  });

  it('are left out of the tests for as few pages and commands as today', () => {
    expect(Object.keys(NOT_RUN)).toHaveLength(4);
    expect(Object.keys(RUN_BY_OTHER_TESTS)).toHaveLength(3);
    const lines = RUN_HERE.flatMap((page) => blocksOf(page).flatMap(linesOf));
    expect(Object.keys(RUN_BY_OTHER_TESTS).filter((command) => !lines.includes(command))).toEqual([]);
  });

  it.each(Object.entries(RUN_ELSEWHERE))('of %s are taken from the page by %s', (page, file) => {
    expect(readFileSync(file, 'utf8')).toMatch(new RegExp(`['\`]${page}['#]`));
  });

  it('that the tests of containers take by number are all of their page', () => {
    const [page] = Object.keys(CONTAINER_BLOCKS).map((section) => section.replace(/#.*/, ''));
    const sections = [
      ...Object.keys(CONTAINER_BLOCKS),
      ...RUN_HERE.filter((section) => section.startsWith(`${page}#`)),
    ];
    const counts = sections.map((section) => [section, blocksOf(section).length]);
    expect(Object.fromEntries(counts)).toMatchObject(CONTAINER_BLOCKS);
    expect(sections.flatMap(blocksOf)).toHaveLength(blocksOf(page ?? '').length);
  });
});

/** Words of Galley that a newcomer doesn't know, and the pages in the order in which a newcomer reads them. */
const WORDS = ['values file', 'Admin API', 'organization', 'debouncing'];
const NEWCOMERS_PAGES = ['README.md', 'docs/getting-started.md', 'docs/concepts.md', 'docs/guide/hosted-admin-api.md'];

it.each(WORDS)('the word "%s" is explained where a newcomer reads it first, and in the list of words', (word) => {
  const [first = ''] = NEWCOMERS_PAGES.map(proseOf).filter((text) => text.includes(word));
  // In the text, or by its row of the list of words.
  expect(first.slice(0, first.indexOf(word)).slice(-2)).toMatch(/(\*|\| )$/);
  const [, words = ''] = readFileSync('docs/concepts.md', 'utf8').split('## Words');
  expect(words).toMatch(new RegExp(`^\\| ${word} \\| `, 'm'));
});

/** Without code, links' targets and headings, on one line. */
function proseOf(page: string): string {
  const text = readFileSync(page, 'utf8')
    .replaceAll(/^ *```[\s\S]*?^ *```$/gm, '')
    .replaceAll(/^#.*$/gm, '');
  return text.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').replaceAll(/\s+/g, ' ');
}
