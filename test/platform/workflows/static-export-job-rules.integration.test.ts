import { setTimeout as sleep } from 'node:timers/promises';
import type { ExportRig } from '../../helpers/export-rig.ts';
import { type HttpSite, serveFiles } from '../../helpers/http-site.ts';
import { createGate } from '../../helpers/system/gate.ts';
import { type SiteFixture, startSiteFixture } from './site-fixture.ts';

const HOME = 'https://docs.example.com';

/** A site with a rule of each kind. The text of a page says how a crawler can reach it. */
const site = serveFiles({
  '/': `<a href="/named" rel="nofollow">x</a><a href="/also-linked" rel="nofollow">x</a><a href="/also-linked">x</a>
    <a href="/private/page">x</a><a href="/old">x</a><a href="/by-meta">x</a><a href="/by-header">x</a>
    <script src="/app.js"></script><script>fetch("/private/data.json"); fetch("/private/guess")</script>`,
  '/named': 'reached by a link with nofollow',
  '/also-linked': { body: 'reached by another link too', headers: { link: '</by-header.css>; rel=stylesheet' } },
  '/by-header.css': { body: 'p{}', contentType: 'text/css' },
  '/private/page': 'reached against robots.txt',
  '/private/guess': 'reached by a guess',
  '/private/data.json': { body: '{}', contentType: 'application/json' },
  '/app.js': { body: 'run()\n//# sourceMappingURL=maps/app.js.map', contentType: 'text/javascript' },
  '/maps/app.js.map': { body: '{"version":3,"sources":["app.ts"]}', contentType: 'application/json' },
  '/old': { body: '', status: 301, headers: { location: '/older' } },
  '/older': { body: '', status: 302, headers: { location: '/moved#here' } },
  '/moved': 'reached by redirect only',
  '/by-meta': '<meta name="robots" content="noindex, nofollow"><a href="/beyond-meta">x</a><img src="/dot.png">',
  '/by-header': {
    body: '<a href="/beyond-header">x</a>',
    headers: { 'x-robots-tag': 'otherbot: none, galley: nofollow' },
  },
  '/beyond-meta': 'reached against the page',
  '/beyond-header': 'reached against the header',
  '/dot.png': { body: 'dot', contentType: 'image/png' },
  '/robots.txt': `User-agent: *\nDisallow: /private\nCrawl-delay: 0.05\n`,
});

let fixture: SiteFixture;
let rig: ExportRig;
let server: HttpSite;

beforeAll(async () => {
  fixture = await startSiteFixture();
  ({ rig, site: server } = fixture);
});

beforeEach(() => fixture.reset());

afterAll(() => fixture.stop());

const AGAINST_RULES = [
  'beyond-header.html',
  'beyond-meta.html',
  'named.html',
  'private/guess.html',
  'private/page.html',
];
const MAP = 'maps/app.js.map';
const ALLOWED = [
  'also-linked.html',
  'by-header.css',
  'by-header.html',
  'by-meta.html',
  'dot.png',
  'index.html',
  'moved.html',
  'private/data.json',
];

describe('a site with rules for crawlers', () => {
  it('is exported by its rules: nofollow, robots.txt, and one request at a time because of its Crawl-delay', async () => {
    let running = 0;
    let maxRunning = 0;
    server.setHandler(async (request, response) => {
      running += 1;
      maxRunning = Math.max(maxRunning, running);
      await sleep(20);
      running -= 1;
      site(request, response);
    });
    const { files, report, manifest } = await rig.run({ origin: server.origin });
    expect([...files.keys()]).toEqual(expect.arrayContaining(ALLOWED));
    expect([...files.keys()].filter((path) => [...AGAINST_RULES, MAP].includes(path))).toEqual([]);
    expect(files.get('app.js')?.trim()).toBe('run()');
    expect(files.get('index.html')).toContain(`href="${HOME}/named"`);
    expect(files.get('also-linked.html')).toContain('<link rel="stylesheet" href="by-header.css"/>');
    expect(manifest.redirects).toContainEqual({ from: '/old', to: '/moved#here', status: 301 });
    expect(report.brokenLinks).toEqual([]);
    expect(report.leftOut).toEqual([
      {
        rule: 'nofollow',
        reason: 'only links with nofollow lead to it',
        count: 3,
        examples: [`${HOME}/beyond-header`, `${HOME}/beyond-meta`, `${HOME}/named`],
      },
      { rule: 'robots', reason: 'robots.txt disallows it', count: 1, examples: [`${HOME}/private/page`] },
    ]);
    expect(maxRunning).toBe(1);
  });

  it('is exported completely and concurrently if the project ignores robots, and with source maps if it keeps them', async () => {
    const secondRequested = createGate();
    server.setHandler(async (request, response) => {
      // The first of these responses waits for the second request, so the test hangs without concurrency.
      if (request.url === '/by-header') secondRequested.open();
      if (request.url === '/by-meta') await secondRequested.pass();
      site(request, response);
    });
    const { files, report } = await rig.run({
      origin: server.origin,
      settings: { robots: 'ignore', sourceMaps: 'keep' },
    });
    expect([...files.keys()]).toEqual(expect.arrayContaining([...ALLOWED, ...AGAINST_RULES]));
    expect(files.get(MAP)).toContain('app.ts');
    expect(files.get('app.js')).toMatch(/sourceMappingURL=maps\/app\.js\.map$/);
    expect(files.get('index.html')).toContain('href="named.html"');
    expect(report.leftOut).toEqual([]);
  });
});
