import { type RawAnswer, rawAnswer } from '../../exporter/fetch/raw-site.ts';

/** Close to the limit of folders, so that the export reaches it before the limit of links. */
const DEEP = Array.from({ length: 32 }, (_, index) => `/${index}`).join('');
const STARTS = ['/calendar/YEAR/1', '/list?page=0', '/inward/more', `/path${DEEP}`, '/chain/0', '/hop/0', '/wide'];
const WIDTH = 200;
/**
 * The last page within the limit of links has many pictures, which that limit doesn't apply to. They fill the export only
 * after it has reached every other limit.
 */
const LAST_OF_CHAIN = 24;
const PICTURES = 600;

/** The links of a page, or undefined if there is no such page. Every part of the site is endless. */
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
      return [`/chain/${number + 1}`];
    case 'wide':
      return first === '' ? Array.from({ length: WIDTH }, (_, index) => `/wide/${index}`) : [];
    default:
      return undefined;
  }
}

function picturesOf(path: string): string {
  if (path !== `/chain/${LAST_OF_CHAIN}`) return '';
  return Array.from({ length: PICTURES }, (_, index) => `<img src="/picture/${index}">`).join('');
}

/** A site that is endless in every way that the export limits. */
export function endlessSite(year: number): RawAnswer {
  return (socket, path) => {
    const links = linksOf(path, year);
    const hop = /^\/hop\/(\d+)$/.exec(path)?.[1];
    if (hop !== undefined) {
      socket.write(rawAnswer('', { status: '302 Found', headers: [`Location: /hop/${Number(hop) + 1}`] }));
    } else if (path.startsWith('/picture/')) {
      socket.write(rawAnswer('picture', { type: 'image/png' }));
    } else if (links === undefined) socket.write(rawAnswer('', { status: '404 Not Found' }));
    else socket.write(rawAnswer(links.map((link) => `<a href="${link}">x</a>`).join('') + picturesOf(path)));
  };
}
