import { type SiteHandler, serveFiles } from '../../helpers/http-site.ts';

/** A client-rendered page. Its headers name a stylesheet that it needs, and a refresh. */
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
