/** Pages of a section, and sections of a part. */
const SECTION_PAGES = 20;
const PART_PAGES = 20 * SECTION_PAGES;

/** A page's position in the site. Number 0 is the start page. Parts and sections start with their index page. */
export type PlannedPage = { number: number; path: string; kind: 'home' | 'part' | 'section' | 'topic' };

export function pageAt(number: number): PlannedPage {
  if (number === 0) return { number, path: '/', kind: 'home' };
  const part = Math.floor(number / PART_PAGES);
  const section = Math.floor((number % PART_PAGES) / SECTION_PAGES);
  const topic = number % SECTION_PAGES;
  const folder = `/part-${part}/`;
  if (number % PART_PAGES === 0) return { number, path: folder, kind: 'part' };
  if (topic === 0) return { number, path: `${folder}section-${section}/`, kind: 'section' };
  return { number, path: `${folder}section-${section}/topic-${topic}`, kind: 'topic' };
}

const PATH = /^\/part-(\d+)\/(?:section-(\d+)\/(?:topic-(\d+))?)?$/;

/** The page of this path in a site with this many pages, or undefined. */
export function pageOfPath(path: string, pages: number): PlannedPage | undefined {
  if (path === '/') return pageAt(0);
  const [, part = '', section = '0', topic = '0'] = PATH.exec(path) ?? [];
  if (part === '') return undefined;
  const number = Number(part) * PART_PAGES + Number(section) * SECTION_PAGES + Number(topic);
  if (number >= pages) return undefined;
  // Only canonical paths exist: not `/part-01/`, and no topic number of another section.
  const page = pageAt(number);
  return page.path === path ? page : undefined;
}

/** The pages in this page's contents. Every page is at most three links away from the start page. */
export function childrenOf({ number, kind }: PlannedPage, pages: number): PlannedPage[] {
  const range = (from: number, to: number, step: number): PlannedPage[] => {
    const found: PlannedPage[] = [];
    for (let each = from; each < Math.min(to, pages); each += step) found.push(pageAt(each));
    return found;
  };
  const sections = (): PlannedPage[] => range(number + SECTION_PAGES, number + PART_PAGES, SECTION_PAGES);
  const topics = (): PlannedPage[] => range(number + 1, number + SECTION_PAGES, 1);
  switch (kind) {
    case 'home':
      return [...range(PART_PAGES, pages, PART_PAGES), ...sections(), ...topics()];
    case 'part':
      return [...sections(), ...topics()];
    case 'section':
      return topics();
    case 'topic':
      return [];
  }
}
