import type { StaticFile } from './http-site.ts';

const page = (body: string, head = ''): string =>
  `<!doctype html><html><head><meta charset="utf-8"><title>Fixture</title>${head}</head><body>${body}</body></html>`;

const PNG = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex');
const image = (mark: string): StaticFile => ({
  body: Buffer.concat([PNG, Buffer.from(mark)]),
  contentType: 'image/png',
});
const moved = (location: string, status = 301): StaticFile => ({ body: '', status, headers: { location } });

/**
 * A small site with one of every construct that is difficult for a crawl. `assetHost`: another origin
 * (`http://host:port`) that serves `externalFiles`.
 */
export function fixtureSite(assetHost: string): Record<string, StaticFile | string> {
  return {
    '/': page(
      `<a href="/guide/">guide</a> <a href="guide/start#first">start</a> <a href="/old">old</a> <a href="/away">away</a>
       <a href="/search?q=a&amp;p=1">a1</a> <a href="/search?q=b">b</a> <a href="/caf%C3%A9/men%c3%bc">café</a>
       <a href="/日本">日本</a> <a href="/based/page">based</a> <a href="/gone">gone</a> <a href="/private/x">private</a>
       <a href="https://elsewhere.example/">elsewhere</a> <a href="mailto:a@b.example">mail</a>
       <img src="/img/a.png" srcset="/img/a.png 1x, /img/a@2x.png 2x" style="background:url('/img/inline.png')">
       <picture><source srcset="/img/wide.png 800w, /img/wider.png 1600w"></picture>
       <img src="${assetHost}/logo.png"><svg><use href="/sprite.svg#icon"/></svg>`,
      `<link rel="stylesheet" href="/css/main.css"><link rel="stylesheet" href="${assetHost}/ext.css">
       <link rel="icon" href="/favicon.png"><link rel="canonical" href="https://docs.example.com/">
       <script src="/app.js"></script>`,
    ),
    '/guide/': page('<a href="start">start</a> <a href="../">home</a> <a href="./missing">missing</a>'),
    '/guide': moved('/guide/'),
    '/guide/start': page('<h1 id="first">First</h1><a href="/guide/">up</a> <a href="/guide">up too</a>'),
    '/old': moved('/older', 302),
    '/older': moved('/guide/start#first'),
    '/loop': moved('/loop2'),
    '/loop2': moved('/loop'),
    '/away': moved('https://elsewhere.example/page'),
    '/search?q=a&p=1': page('results a, page 1'),
    '/search?q=b': page('results b'),
    '/caf%C3%A9/men%C3%BC': page('Menü <a href="../%E6%97%A5%E6%9C%AC">日本</a>'),
    '/%E6%97%A5%E6%9C%AC': page('日本 <img src="/img/bild%20eins.png">'),
    '/based/page': page('<a href="other">other</a> <img src="pic.png">', '<base href="/deep/er/">'),
    '/deep/er/other': page('reached through a base <a href="/loop">loop</a>'),
    '/deep/er/pic.png': image('based'),
    '/private/x': page('not for crawlers'),
    '/listed-only': page('only the sitemap knows this page'),
    '/css/main.css': {
      body: '@import "theme.css"; @font-face{font-family:F;src:url(../font/f.woff2?v=1)} body{background:url("../img/bg.png")}',
      contentType: 'text/css',
    },
    '/css/theme.css': { body: '.a{background:url(/img/theme.png)}', contentType: 'text/css' },
    '/font/f.woff2?v=1': { body: Buffer.from('wOF2font'), contentType: 'font/woff2' },
    '/app.js': { body: 'console.log("app")', contentType: 'text/javascript' },
    '/sprite.svg': {
      body: '<svg xmlns="http://www.w3.org/2000/svg"><g id="icon"/></svg>',
      contentType: 'image/svg+xml',
    },
    '/favicon.png': image('favicon'),
    ...Object.fromEntries(
      ['a.png', 'a@2x.png', 'inline.png', 'wide.png', 'wider.png', 'bg.png', 'theme.png', 'bild%20eins.png'].map(
        (name) => [`/img/${name}`, image(name)],
      ),
    ),
    '/404.html': { body: page('Nothing here'), status: 404 },
    '/robots.txt': {
      body: 'User-agent: *\nDisallow: /private/\nSitemap: https://docs.example.com/map.xml\n',
      contentType: 'text/plain',
    },
    '/map.xml': {
      body: '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>https://docs.example.com/listed-only</loc></url></urlset>',
      contentType: 'application/xml',
    },
  };
}

/** The files of `fixtureSite`'s other origin. */
export const externalFiles: Record<string, StaticFile | string> = {
  '/logo.png': image('logo'),
  '/ext.css': { body: '@font-face{font-family:E;src:url(fonts/e.woff2)}', contentType: 'text/css' },
  '/fonts/e.woff2': { body: Buffer.from('wOF2external'), contentType: 'font/woff2' },
};
