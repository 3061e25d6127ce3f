import { createHash } from 'node:crypto';
import type { BundleManifest } from '../../../contract/bundle.ts';
import type { ExportedBundle } from '../../helpers/export-rig.ts';
import type { SiteHandler } from '../../helpers/http-site.ts';

/** The validators of an origin. `fickle`: the ETag differs each time, so the origin never responds with 304. */
export type Validation = 'etag' | 'weak etag' | 'last-modified' | 'both' | 'none' | 'fickle';

/** A small site that a test edits. Pages refer to pages and pictures by number. */
export type ChangingSite = {
  template: number;
  pages: Map<number, { text: string; links: number[]; pictures: number[]; movedTo: number | null }>;
  pictures: Map<number, string>;
};

type Answer = { status: number; type: string; body: string; location?: string };

const FIRST_MOMENT = Date.parse('2026-01-01T00:00:00Z');

export function newSite(pageCount: number): ChangingSite {
  const pages: ChangingSite['pages'] = new Map();
  for (let index = 0; index < pageCount; index += 1) {
    const links = [(index + 1) % pageCount, (index * 3 + 1) % pageCount];
    pages.set(index, { text: `Text ${index}`, links, pictures: [index % 3], movedTo: null });
  }
  return { template: 1, pages, pictures: new Map([0, 1, 2].map((each) => [each, `picture ${each}`])) };
}

/** The site's response to a path. `undefined` means 404. */
export function answerOf(site: ChangingSite, path: string): Answer | undefined {
  if (path === '/') {
    const links = [...site.pages.keys()]
      .filter((each) => each % 4 === 0)
      .map((each) => `<a href="/p${each}">${each}</a>`);
    return { status: 200, type: 'text/html', body: htmlOf(site, `<h1>Home</h1>${links.join(' ')}`) };
  }
  if (path === '/style.css') {
    return { status: 200, type: 'text/css', body: `body{order:${site.template};background:url(/pic0.png)}` };
  }
  const picture = /^\/pic(\d+)\.png$/.exec(path)?.[1];
  if (picture !== undefined) {
    const body = site.pictures.get(Number(picture));
    return body === undefined ? undefined : { status: 200, type: 'image/png', body };
  }
  const page = site.pages.get(Number(/^\/p(\d+)$/.exec(path)?.[1] ?? Number.NaN));
  if (page === undefined) return undefined;
  if (page.movedTo !== null) return { status: 301, type: 'text/html', body: '', location: `/p${page.movedTo}` };
  const links = page.links.map((each) => `<a href="/p${each}#part">${each}</a>`);
  const pictures = page.pictures.map((each) => `<img src="/pic${each}.png">`);
  return { status: 200, type: 'text/html', body: htmlOf(site, `${page.text}${links.join(' ')}${pictures.join('')}`) };
}

function htmlOf({ template }: ChangingSite, body: string): string {
  const head = `<meta charset="utf-8"><title>t${template}</title><link rel="stylesheet" href="/style.css">`;
  return `<!doctype html><html><head>${head}</head><body class="t${template}">${body}</body></html>`;
}

/** Everything that a file of the bundle depends on: its own response and the targets of its references. */
export function meaningOf(site: ChangingSite, path: string): string {
  const answer = answerOf(site, path);
  const references = [...(answer?.body ?? '').matchAll(/(?:href="|src="|url\()(\/[^"#)]*)/g)].map(([, to = '']) =>
    redirectChain(site, [to]),
  );
  return JSON.stringify([answer, references]);
}

/** A path with all its redirects, and whether the last one exists. */
function redirectChain(site: ChangingSite, way: readonly string[]): string {
  const answer = answerOf(site, way.at(-1) ?? '');
  if (answer === undefined) return `${way.join(' ')} missing`;
  if (answer.location === undefined) return `${way.join(' ')} there`;
  if (way.includes(answer.location)) return `${way.join(' ')} in a circle`;
  return redirectChain(site, [...way, answer.location]);
}

export type Origin = {
  handle: SiteHandler;
  /** Paths of full responses and of 304s since the last reset. */
  sent: string[];
  unchanged: string[];
  reset(): void;
};

/** Serves the current state of a site. A changed body gets a later modification time. */
export function changingOrigin(site: () => ChangingSite, validation: () => Validation): Origin {
  const known = new Map<string, { tag: string; changedAt: number }>();
  let moment = FIRST_MOMENT;
  let serial = 0;

  function stateOf(path: string, body: string): { tag: string; changedAt: number } {
    const tag = createHash('sha256').update(body).digest('hex').slice(0, 16);
    const before = known.get(path);
    if (before?.tag === tag) return before;
    moment += 10_000;
    const state = { tag, changedAt: moment };
    known.set(path, state);
    return state;
  }

  const origin: Origin = {
    sent: [],
    unchanged: [],
    reset() {
      origin.sent = [];
      origin.unchanged = [];
    },
    handle(request, response) {
      const path = request.url ?? '/';
      const answer = answerOf(site(), path);
      if (answer === undefined) {
        response.writeHead(404, { 'content-type': 'text/html' }).end('<p>not here');
        return;
      }
      const kind = validation();
      const { tag, changedAt } = stateOf(path, answer.body);
      serial += 1;
      const etags = { etag: `"${tag}"`, 'weak etag': `W/"${tag}"`, both: `"${tag}"`, fickle: `"${serial}"` } as const;
      const etag = kind === 'none' || kind === 'last-modified' ? undefined : etags[kind];
      const dated = kind === 'last-modified' || kind === 'both';
      const lastModified = dated ? new Date(changedAt).toUTCString() : undefined;
      const isMatch =
        request.headers['if-none-match'] === undefined
          ? lastModified !== undefined && request.headers['if-modified-since'] === lastModified
          : request.headers['if-none-match'] === etag;
      const headers = {
        'content-type': answer.type,
        ...(etag && { etag }),
        ...(lastModified && { 'last-modified': lastModified }),
        ...(answer.location && { location: answer.location }),
      };
      if (isMatch && answer.status === 200) {
        origin.unchanged.push(path);
        response.writeHead(304, headers).end();
      } else {
        origin.sent.push(path);
        response.writeHead(answer.status, headers).end(answer.body);
      }
    },
  };
  return origin;
}

/** A file of a manifest without its place in the archive, which depends on what else was packed or reused. */
export function withoutPlace({ offset: _, length: __, ...file }: BundleManifest['files'][number]) {
  return file;
}

/** Everything that must be equal in two exports of the same state of a site. */
export function bundleContent({ manifest, files, report }: ExportedBundle) {
  return {
    contentSha256: manifest.contentSha256,
    files: manifest.files.map(withoutPlace),
    texts: [...files],
    redirects: manifest.redirects,
    pageCount: manifest.pageCount,
    brokenLinks: report.brokenLinks
      .map((each) => ({ ...each, referrers: each.referrers.toSorted() }))
      .toSorted((a, b) => (a.url < b.url ? -1 : 1)),
  };
}
