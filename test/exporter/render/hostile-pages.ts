import { type SiteHandler, serveFiles } from '../../helpers/http-site.ts';
import { createGate } from '../../helpers/system/gate.ts';

/** What a page's script may try; each ends in a notice about that page, and in a page. */
export const HOSTILE = {
  away: ["location.href = 'http://PRIVATE/away'", /leaves the page for http:\/\/.*\/away/],
  blob: [
    "location.href = URL.createObjectURL(new Blob(['<h1>Another</h1>'], { type: 'text/html' }))",
    /left the page for blob:/,
  ],
  windows: ["open('http://PRIVATE/window'); open('/windows')", /opens a window for http:\/\/.*\/window/],
  fetching: ["fetch('http://PRIVATE/data')", /data could not be loaded: refused: .*not a public address/],
  redirected: ["fetch('/to-private')", /could not be loaded: refused/],
  picture: [
    "document.body.innerHTML += '<img src=http://PRIVATE/x.png><iframe src=http://PRIVATE/frame></iframe>'",
    /x\.png could not/,
  ],
  worker: [
    // However late it starts: the page isn't at rest until it has asked.
    `const asking = 'try { importScripts("http://PRIVATE/worker.js") } catch {} fetch(origin + "/asked")';
    new Worker(URL.createObjectURL(new Blob([asking]))); fetch('/until-asked')`,
    /worker\.js could not be loaded: refused/,
  ],
  socket: [
    "new WebSocket('ws://PRIVATE/socket'); new Worker(URL.createObjectURL(new Blob(['new WebSocket(\"ws://PRIVATE/in-worker\")'])))",
    /opens a WebSocket/,
  ],
  dialogs: ["alert('one'); confirm('two')", /shows a dialog/],
  download: [
    "const a = document.createElement('a'); a.href = '/file'; a.download = 'x'; a.click()",
    /starts a download/,
  ],
  restless: ["setInterval(() => fetch('/data?' + Math.random()), 50)", /never came to rest/],
  endless: ['for (;;);', /could not be rendered.*did not end within/],
  greedy: [
    'const all = []; setInterval(() => all.push(new Uint8Array(1e8).fill(1)), 5)',
    /could not be rendered.*tab ended/,
  ],
  gone: ['document.documentElement.remove()', /could not be rendered.*left no page/],
} as const;

/** A site of all of them. `privateHost` is where nothing of it may reach: a host and port. */
export function hostileSite(privateHost: string): SiteHandler {
  const names = Object.keys(HOSTILE);
  const files = Object.entries(HOSTILE).map(([name, [script]]) => {
    const text = script.replaceAll('PRIVATE', privateHost);
    return [`/${name}`, `<!doctype html><title>${name}</title><h1>Page ${name}</h1><script>${text}</script>`];
  });
  const asked = createGate();
  const serve = serveFiles({
    '/': names.map((name) => `<a href="/${name}">${name}</a>`).join(''),
    ...Object.fromEntries(files),
    '/to-private': { body: '', status: 302, headers: { location: `http://${privateHost}/hop` } },
    '/file': { body: 'a file', contentType: 'application/zip' },
    '/asked': '',
    '/until-asked': '',
  });
  return async (request, response) => {
    if (request.url === '/asked') asked.open();
    if (request.url === '/until-asked') await asked.pass();
    serve(request, response);
  };
}
