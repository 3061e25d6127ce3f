import { type RawAnswer, rawAnswer } from './raw-site.ts';

/** Near the bound of folders already, so that the bound of links isn't met first. */
const DEEP = Array.from({ length: 32 }, (_, index) => `/${index}`).join('');
const STARTS = ['/calendar/YEAR/1', '/list?page=0', '/inward/more', `/path${DEEP}`, '/chain/0', '/hop/0'];
/** The tree would fill the export before the others come to their ends. */
const TREE_BEGINS_AT = 16;

/** Where a page of the site leads; undefined where there is none. Every part of it goes on for ever. */
function linksOf(path: string, year: number): string[] | undefined {
  const [, part = '', first = '', ...rest] = path.split(/[/?]/);
  const number = Number(first);
  switch (part) {
    case '':
      return STARTS.map((start) => start.replace('YEAR', String(year)));
    case 'calendar':
      return [`/calendar/${number + 1}/${rest[0]}`];
    case 'list':
      return [`/list?page=${Number(first.replace('page=', '')) + 1}`];
    case 'inward':
      return [`${path}/more`];
    case 'path':
      return [`${path}/${path.split('/').length}`];
    case 'chain':
      return [`/chain/${number + 1}`, ...(number === TREE_BEGINS_AT ? ['/tree/1'] : [])];
    case 'tree':
      return Array.from({ length: 10 }, (_, child) => `/tree/${10 * number + child}`);
    default:
      return undefined;
  }
}

/** A site without an end in any direction. */
export function endlessSite(year: number): RawAnswer {
  return (socket, path) => {
    const links = linksOf(path, year);
    const hop = /^\/hop\/(\d+)$/.exec(path)?.[1];
    if (hop !== undefined) {
      socket.write(rawAnswer('', { status: '302 Found', headers: [`Location: /hop/${Number(hop) + 1}`] }));
    } else if (links === undefined) socket.write(rawAnswer('', { status: '404 Not Found' }));
    else socket.write(rawAnswer(links.map((link) => `<a href="${link}">x</a>`).join('')));
  };
}
