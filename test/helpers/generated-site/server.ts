import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { CONTROL_PATH, type GeneratedSiteChange, type GeneratedSiteOptions, type RequestCounts } from './options.ts';
import { hash32, pick, share } from './seeded.ts';

const MAX_REPEATED = 1_000;
const EPOCH_MS = Date.UTC(2026, 0, 1);
const DAY_MS = 24 * 60 * 60 * 1_000;

type Content = { status: number; contentType: string; body: string; edition: number };

/** The server of a generated site. It generates pages on request and stores none. */
export function createGeneratedSite(options: GeneratedSiteOptions): Server {
  const { pages, seed = 1, pageBytes = 3_000, validators = 'none' } = options;
  const now = {
    delayMs: options.delayMs ?? 0,
    changedShare: options.changedShare ?? 0,
    edition: options.edition ?? 0,
  };
  const counts = new Map<string, number>();
  let notModified = 0;
  const pageText = createPageText({ seed, pages, pageBytes });
  const assets = assetsOf(seed);

  function contentOf(path: string): Content {
    const page = pageOfPath(path, pages);
    const html = { status: 200, contentType: 'text/html; charset=utf-8' };
    if (page !== undefined) {
      const edition = share(seed, page.number, 11) < now.changedShare ? now.edition : 0;
      return { ...html, body: pageText(page, edition), edition };
    }
    const asset = assets.get(path);
    if (asset !== undefined) return { ...asset, status: 200, edition: 0 };
    return { ...html, status: 404, body: '<!doctype html><title>Nothing here</title>', edition: 0 };
  }

  function respond(request: IncomingMessage, response: ServerResponse, path: string): void {
    const { status, contentType, body, edition } = contentOf(path);
    const etag = `"${seed}-${edition}"`;
    const modified = new Date(EPOCH_MS + edition * DAY_MS).toUTCString();
    const sends = {
      etag: validators === 'etag' || validators === 'both',
      modified: validators === 'last-modified' || validators === 'both',
    };
    const headers = { ...(sends.etag && { etag }), ...(sends.modified && { 'last-modified': modified }) };
    const requestHeaders = request.headers;
    const matches =
      requestHeaders['if-none-match'] !== undefined
        ? sends.etag && requestHeaders['if-none-match'] === etag
        : sends.modified && Date.parse(requestHeaders['if-modified-since'] ?? '') >= Date.parse(modified);
    if (status === 200 && matches) {
      notModified += 1;
      response.writeHead(304, headers).end();
      return;
    }
    const length = { 'content-length': Buffer.byteLength(body), 'content-type': contentType };
    response.writeHead(status, { ...length, ...(status === 200 && headers) });
    response.end(request.method === 'HEAD' ? undefined : body);
  }

  function control(request: IncomingMessage, response: ServerResponse): void {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      if (request.method === 'POST') {
        const change: GeneratedSiteChange = JSON.parse(Buffer.concat(chunks).toString('utf8'));
        Object.assign(now, change);
      } else if (request.method === 'DELETE') {
        counts.clear();
        notModified = 0;
      }
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(countsOf(counts, notModified)));
    });
  }

  const server = createServer((request, response) => {
    const path = request.url ?? '/';
    if (path === CONTROL_PATH) {
      control(request, response);
      return;
    }
    counts.set(path, (counts.get(path) ?? 0) + 1);
    if (now.delayMs === 0) respond(request, response, path);
    else void sleep(now.delayMs).then(() => respond(request, response, path));
  });
  // If the server closed an idle connection while a request arrives, the client would see a failure.
  server.keepAliveTimeout = 120_000;
  return server;
}

function countsOf(counts: ReadonlyMap<string, number>, notModified: number): RequestCounts {
  let requests = 0;
  const repeated: [string, number][] = [];
  for (const [url, count] of counts) {
    requests += count;
    if (count > 1 && repeated.length < MAX_REPEATED) repeated.push([url, count]);
  }
  return {
    requests,
    urls: counts.size,
    notModified,
    repeated: requests - counts.size,
    repeatedUrls: Object.fromEntries(repeated),
  };
}

const WORDS =
  'service deploy cluster request response token version release schema index query cache worker queue signal timer history retry policy region account secret network storage archive metric alert endpoint header payload client server session replica backup restore migrate upgrade configure monitor verify publish export bundle manifest'.split(
    ' ',
  );

const PARAGRAPHS = 512;
const IMAGES = 24;

type PageTextOptions = { seed: number; pages: number; pageBytes: number };

/** Generates the pages of one site. A page takes tens of microseconds, so that tests don't measure the site itself. */
function createPageText({ seed, pages, pageBytes }: PageTextOptions) {
  const paragraphs = Array.from({ length: PARAGRAPHS }, (_, index) => paragraphOf(seed, index));

  function titleOf({ number }: PlannedPage): string {
    const words = [1, 2, 3].map((each) => pick(WORDS, share(seed, number, each)));
    return `${words.join(' ')} ${number}`;
  }

  function anchor(page: PlannedPage): string {
    return `<li><a href="${page.path}">${titleOf(page)}</a></li>`;
  }

  function body(page: PlannedPage): string {
    const pieces: string[] = [];
    let size = 0;
    for (let each = 0; size < pageBytes; each += 1) {
      const other = pageAt(hash32(seed, page.number, each, 7) % pages);
      const text = pick(paragraphs, share(seed, page.number, each, 8));
      const piece = `<h2 id="step-${each}">${titleOf(other)}</h2>\n${text}\n<p>See <a href="${other.path}#step-0">${titleOf(other)}</a>.</p>\n`;
      pieces.push(piece);
      size += piece.length;
    }
    return pieces.join('');
  }

  /** `edition`: the part of the text that changes when a page is edited. */
  return function pageText(page: PlannedPage, edition: number): string {
    const { number } = page;
    const previous = number > 0 ? `<a rel="prev" href="${pageAt(number - 1).path}">Previous</a>` : '';
    const next = number + 1 < pages ? `<a rel="next" href="${pageAt(number + 1).path}">Next</a>` : '';
    const image = hash32(seed, number, 9) % IMAGES;
    return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${titleOf(page)}</title>
<link rel="stylesheet" href="/assets/site.css"><link rel="icon" href="/assets/icon.svg">
<link rel="canonical" href="${page.path}"><script src="/assets/site.js" defer></script></head>
<body><header><a href="/">Handbook</a></header>
<nav><ul>${childrenOf(page, pages).map(anchor).join('\n')}</ul></nav>
<main><h1>${titleOf(page)}</h1><p>Edition ${edition}.</p><img src="/assets/figure-${image}.svg" alt="">
${body(page)}</main>
<footer>${previous} ${next}</footer></body></html>
`;
  };
}

function paragraphOf(seed: number, index: number): string {
  const sentence = (at: number): string => {
    const words = Array.from({ length: 9 + (hash32(seed, index, at) % 9) }, (_, each) =>
      pick(WORDS, share(seed, index, at, each)),
    );
    return `${words.join(' ')}.`;
  };
  const prose = `<p>${[0, 1, 2].map(sentence).join(' ')}</p>`;
  if (index % 4 === 0) return `${prose}\n<pre><code class="language-sh">galley ${sentence(9)}</code></pre>`;
  if (index % 4 === 1) return `${prose}\n<table><tr><td>${sentence(10)}</td><td>${sentence(11)}</td></tr></table>`;
  return prose;
}

/** The assets that all pages share. */
function assetsOf(seed: number): Map<string, { contentType: string; body: string }> {
  const figure = (index: number): string =>
    `<svg xmlns="http://www.w3.org/2000/svg" width="320" height="80"><title>${index}</title>${Array.from(
      { length: 20 },
      (_, bar) => `<rect x="${bar * 16}" width="12" height="${hash32(seed, index, bar) % 80}"/>`,
    ).join('')}</svg>`;
  const svg = 'image/svg+xml';
  const rules = WORDS.map((word, index) => `.${word}{color:#${(hash32(seed, index) & 0xffffff).toString(16)}}`);
  return new Map([
    ['/assets/site.css', { contentType: 'text/css', body: `main{background:url(figure-0.svg)}\n${rules.join('\n')}` }],
    ['/assets/site.js', { contentType: 'text/javascript', body: "document.documentElement.classList.add('ready');\n" }],
    ['/assets/icon.svg', { contentType: svg, body: figure(1_000) }],
    ...Array.from(
      { length: IMAGES },
      (_, index) => [`/assets/figure-${index}.svg`, { contentType: svg, body: figure(index) }] as const,
    ),
  ]);
}

/** Pages of a section, and sections of a part. */
const SECTION_PAGES = 20;
const PART_PAGES = 20 * SECTION_PAGES;

/** A page's position in the site. Number 0 is the start page. Parts and sections start with their index page. */
type PlannedPage = { number: number; path: string; kind: 'home' | 'part' | 'section' | 'topic' };

function pageAt(number: number): PlannedPage {
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
function pageOfPath(path: string, pages: number): PlannedPage | undefined {
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
function childrenOf({ number, kind }: PlannedPage, pages: number): PlannedPage[] {
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
