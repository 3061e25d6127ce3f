import { type SiteHandler, serveFiles } from '../../helpers/http-site.ts';

/** A page that draws itself by a style, which only a header names, and that a header leads readers away from. */
export function drawingSite(): SiteHandler {
  return serveFiles({
    '/': {
      body: '<!doctype html><div id="app"></div><script src="/app.js"></script>',
      headers: { link: '</style.css>; rel=stylesheet', refresh: '0; url=/' },
    },
    '/style.css': { body: '#app { order: 7 }', contentType: 'text/css' },
    '/app.js': {
      contentType: 'text/javascript',
      body: `const app = document.getElementById('app');
    app.textContent = 'Drawn in order ' + getComputedStyle(app).order;
    const more = document.createElement('script'); more.src = '/more.js'; document.head.append(more);`,
    },
    '/more.js': { body: 'document.title = "More"', contentType: 'text/javascript' },
  });
}
