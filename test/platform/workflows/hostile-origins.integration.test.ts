import { type RawAnswer, type RawSite, rawAnswer, startRawSite } from '../../exporter/fetch/raw-site.ts';
import { type ExportRig, startExportRig } from '../../helpers/export-rig.ts';
import { serveFiles, startHttpSite } from '../../helpers/http-site.ts';
import { createDatabase } from '../../helpers/test-database.ts';

const HOME = 'https://docs.example.com';

let fixture: ExportRig;
let site: RawSite;

beforeAll(async () => {
  fixture = await startExportRig(await createDatabase());
  site = await startRawSite();
  await fixture.startWorker({ maxAttempts: 1, maxUrls: 500, maxDepth: 25, maxQueryVariants: 8 });
});

afterAll(async () => {
  await fixture?.stop();
  await site?.close();
});

describe('a hostile origin', () => {
  it('cannot redirect to private addresses, in circles or to other protocols', async () => {
    const inside = await startHttpSite(serveFiles({ '/secret.png': 'secret' }));
    const targets: Record<string, [location: string, reason: RegExp]> = {
      '/to-private': [`${inside.origin}/secret.png`, /redirects to .*refused: .*not a public address/],
      '/to-name': [`http://localhost:${inside.port}/secret.png`, /redirects to .*refused: /],
      '/to-file': ['file:///etc/passwd', /redirects to file/],
      '/to-user': ['http://a:b@127.0.0.1/', /redirects to http:/],
      '/to-itself': ['/to-itself', /to itself/],
      '/to-a': ['/to-b', /more than 20 redirects/],
      '/to-b': ['/to-a', /more than 20 redirects/],
    };
    try {
      const images = [`${inside.origin}/secret.png`, ...Object.keys(targets)].map((url) => `<img src="${url}">`);
      site.setAnswer((socket, path) => {
        const location = targets[path]?.[0];
        if (path === '/') socket.write(rawAnswer(images.join('')));
        else if (location === undefined) socket.write(rawAnswer('', { status: '404 Not Found' }));
        else socket.write(rawAnswer('', { status: '302 Found', headers: [`Location: ${location}`] }));
      });
      const { report, files } = await fixture.run({ origin: site.origin });
      const reasons = new Map(report.brokenLinks.map(({ url, reason }) => [url, reason]));
      for (const [path, [, reason]] of Object.entries(targets)) expect(reasons.get(HOME + path)).toMatch(reason);
      expect(reasons.get(`${inside.origin}/secret.png`)).toMatch(/^refused: /);
      expect(inside.requests).toEqual([]);
      expect([...files.keys()].filter((path) => path.startsWith('_external'))).toEqual([]);
    } finally {
      await inside.close();
    }
  });

  it('is exported up to the limits if it is endless, and the report lists each limit with examples', async () => {
    site.setAnswer(endlessSite(new Date().getUTCFullYear()));
    const { row, report, manifest } = await fixture.run({ origin: site.origin });
    expect(row.status).toBe('completed');
    expect(manifest.pageCount).toBeGreaterThan(200);
    const rules = new Map(report.leftOut.map((each) => [each.rule, each]));
    for (const rule of ['addresses', 'dates', 'depth', 'folders', 'queries', 'repeats']) {
      const { count = 0, examples = [] } = rules.get(rule) ?? {};
      expect([rule, count > 0 && examples.length > 0 && examples.length <= 10]).toEqual([rule, true]);
    }
    expect(report.counts.skippedPages).toBe(report.leftOut.reduce((sum, { count }) => sum + count, 0));
    expect(report.brokenLinks.find(({ url }) => url === `${HOME}/hop/0`)?.reason).toMatch(/more than 20 redirects/);
  });
});

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
function endlessSite(year: number): RawAnswer {
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
