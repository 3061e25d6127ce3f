import { mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { BrowserPool } from '../../exporter/render/browser-pool.ts';
import { galley, spawnService } from '../helpers/galley.ts';
import { type HttpSite, type SiteHandler, startHttpSite } from '../helpers/http-site.ts';
import { emptiedFolder } from '../helpers/temporary-folder.ts';
import { exportCommand, openPool, prove } from './proving.ts';

const folder = emptiedFolder();
let pool: BrowserPool;
const sites: HttpSite[] = [];

beforeAll(async () => {
  pool = await openPool();
});

afterEach(async () => {
  for (const site of sites.splice(0)) await site.close();
});

afterAll(async () => {
  await pool?.close();
});

async function serve(handler: SiteHandler): Promise<HttpSite> {
  const site = await startHttpSite(handler);
  sites.push(site);
  return site;
}

async function serveHtml(body: (path: string) => string): Promise<HttpSite> {
  return await serve(({ url = '/' }, response) => {
    const isPage = url === '/' || url.startsWith('/page');
    response.writeHead(isPage ? 200 : 404, { 'content-type': 'text/html' });
    response.end(
      `<!doctype html><html lang="en"><meta charset="utf-8"><title>${url}</title>${isPage ? body(url) : ''}`,
    );
  });
}

async function exported(origin: string, ...options: string[]): Promise<string> {
  const { args, variables } = await exportCommand(join(folder, 'home'), origin, 'site', options);
  expect(await galley(args, variables, folder)).toMatchObject({ code: 0 });
  return join(folder, 'site');
}

it('compares a page that needs another host without that host at both sides', async () => {
  const other = await serve(({ url }, response) => {
    response.setHeader('content-type', url === '/text.js' ? 'text/javascript' : 'image/svg+xml');
    if (url === '/text.js') response.end("document.querySelector('#other').textContent = 'Written by the other host'");
    else
      response.end(
        '<svg xmlns="http://www.w3.org/2000/svg" width="300" height="200"><rect width="300" height="200"/></svg>',
      );
  });
  const site = await serveHtml(
    () => `<h1>Page</h1><p id="other">Nothing yet</p><script>
      const at = ['127', '0', '0', '1:${other.port}'].join('.');
      const script = document.createElement('script');
      script.src = '//' + at + '/text.js';
      const image = new Image();
      image.src = 'http://' + at + '/image.svg';
      document.body.append(script, image);
    </script>`,
  );
  const bundle = await exported(site.origin);
  const { proof, html } = await prove(pool, { folder: bundle, origin: site.origin, otherHosts: [other.host] });
  expect(proof.pages).toEqual([expect.objectContaining({ status: 'equal', withoutHosts: [other.host], findings: [] })]);
  expect(html).toContain(`equal, both without ${other.host}`);
  // It was requested, or nothing would have been compared.
  expect(other.requests).toEqual(expect.arrayContaining(['/text.js', '/image.svg']));
});

it('calls a page unknown that changes with each visit, or that the origin no longer shows', async () => {
  let count = 0;
  const colors = ['#c00', '#0a0', '#00c', '#990', '#099', '#909'];
  const site = await serveHtml((path) => {
    count += 1;
    const color = path === '/page' ? (colors[count % colors.length] ?? '') : '#fff';
    return `<style>html{background:${color};min-height:100vh}</style><a href="/page">P</a> <a href="/page-gone">G</a>`;
  });
  const bundle = await exported(site.origin);
  const html = await serve(({ url, headers }, response) => {
    if (url === '/page-gone') response.writeHead(503).end();
    else
      void fetch(site.origin + url, { headers: { accept: String(headers.accept) } }).then(async (answer) => {
        response.writeHead(answer.status, { 'content-type': 'text/html' }).end(await answer.text());
      });
  });
  const { proof } = await prove(pool, { folder: bundle, origin: html.origin });
  const found = proof.pages.map(({ url, status, reason }) => [new URL(url).pathname, status, reason]);
  expect(found.sort()).toEqual([
    ['/', 'equal', null],
    ['/page', 'unknown', 'more than 20 % of it differs between two visits to the origin'],
    ['/page-gone', 'unknown', "the origin doesn't show it: HTTP 503"],
  ]);
  expect(proof).toMatchObject({ status: 'passed', counts: { pages: 3, equal: 1, different: 0, unknown: 2 } });
});

it('waits longer for a page that pauses before it shows its last part', async () => {
  const site = await serve(({ headers }, response) => {
    // Only the origin's page is complete at once.
    const pause = headers['user-agent']?.includes('Chrome') === true ? 0 : 1_200;
    const late = "document.body.append('The last part')";
    response.setHeader('content-type', 'text/html');
    response.end(
      `<!doctype html><title>Page</title><body><h1>Page</h1><script>setTimeout(() => ${late}, ${pause})</script>`,
    );
  });
  const { proof } = await prove(pool, { folder: await exported(site.origin), origin: site.origin });
  expect(proof.counts).toMatchObject({ pages: 1, equal: 1 });
});

it('leaves out the search page that the export made', async () => {
  const site = await serveHtml(() => '<main><h1>Page</h1><p>Words to search</p><a href="/page">P</a></main>');
  const bundle = await exported(site.origin, '--search');
  expect(await readFile(join(bundle, '_search.html'), 'utf8')).toContain('_pagefind/');
  const { proof } = await prove(pool, { folder: bundle, origin: site.origin });
  expect(proof.counts).toMatchObject({ pagesInBundle: 2, pages: 2, equal: 2 });
});

/** Processes whose environment has the text, such as those of a browser with its own temporary folder. */
async function processesWith(text: string): Promise<string[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(
    pids.map(async (pid) => {
      const environment = await readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '');
      return environment.includes(text) ? [pid] : [];
    }),
  );
  return found.flat();
}

it('ends on Ctrl-C while a page is open, without a browser and without a proof', async () => {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  const site = await serve(({ url, headers }, response) => {
    const isBrowser = headers['user-agent']?.includes('Chrome') === true;
    // The browser's page never responds.
    if (isBrowser) open();
    else response.writeHead(url === '/' ? 200 : 404, { 'content-type': 'text/html' }).end('<title>T</title><p>Text');
  });
  const temporary = join(folder, 'temporary');
  await mkdir(temporary);
  const { args, variables } = await exportCommand(join(folder, 'home'), site.origin, 'site', ['--prove']);
  const started = await spawnService(args, { ...variables, TMPDIR: temporary }, folder);
  started.ready.catch(() => undefined);
  const ended = new Promise((resolve) => started.process.once('close', resolve));
  await opened;
  expect((await processesWith(temporary)).length).toBeGreaterThan(1);
  started.process.kill('SIGINT');
  expect([await ended, started.output()]).toEqual([1, expect.stringContaining('galley: The export was canceled')]);
  expect(await processesWith(temporary)).toEqual([]);
  expect(await readdir(temporary)).toEqual([]);
  expect((await readdir(folder)).filter((name) => name.includes('proof'))).toEqual([]);
});
