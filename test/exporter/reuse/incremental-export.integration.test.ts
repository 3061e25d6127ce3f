import { createHash } from 'node:crypto';
import { type DirectRig, startDirectRig } from '../../helpers/direct-export.ts';
import type { ExportedBundle } from '../../helpers/export-rig.ts';
import fc from '../../helpers/fast-check.ts';
import { type HttpSite, type SiteHandler, serveFiles, startHttpSite } from '../../helpers/http-site.ts';
import { createGate } from '../../helpers/system/gate.ts';
import {
  bundleContent,
  type ChangingSite,
  changingOrigin,
  meaningOf,
  newSite,
  type Validation,
} from './changing-site.ts';

/** Each file is a separate piece, so that tests can count reused files. */
const PIECE_BYTES = 1;

let rig: DirectRig;
let server: HttpSite;
let site: ChangingSite;
let validation: Validation;
const origin = changingOrigin(
  () => site,
  () => validation,
);

beforeAll(async () => {
  rig = await startDirectRig({ pieceBytes: PIECE_BYTES });
  server = await startHttpSite(origin.handle);
});

beforeEach(() => {
  site = newSite(9);
  validation = 'etag';
  origin.reset();
});

afterAll(async () => {
  await server.close();
  await rig.stop();
});

/** Exports the same state of the site with a new project. */
async function fullExport(): Promise<ExportedBundle> {
  return rig.run(await rig.addProject(server.origin));
}

/** The URL path of each file in the bundle, with everything that the file depends on. */
function meanings(bundle: ExportedBundle): Map<string, string> {
  const paths = bundle.manifest.files.map(({ path }) =>
    path === 'index.html' ? '/' : `/${path.replace(/\.html$/, '')}`,
  );
  const made = ['/404', '/.nojekyll'];
  return new Map(paths.filter((path) => !made.includes(path)).map((path) => [path, meaningOf(site, path)]));
}

type Change =
  | { kind: 'edit' | 'delete' | 'move' | 'link' | 'unlink' | 'add'; page: number; other: number }
  | { kind: 'template' }
  | { kind: 'picture'; picture: number; present: boolean };

function apply(change: Change, serial: number): void {
  if (change.kind === 'template') {
    site.template += 1;
    return;
  }
  if (change.kind === 'picture') {
    if (change.present) site.pictures.set(change.picture, `picture ${serial}`);
    else site.pictures.delete(change.picture);
    return;
  }
  const page = site.pages.get(change.page);
  if (change.kind === 'add') {
    const added = 100 + serial;
    site.pages.set(added, { text: `New ${serial}`, links: [change.other], pictures: [], movedTo: null });
    page?.links.push(added);
  } else if (page === undefined) {
    return;
  } else if (change.kind === 'edit') page.text = `Edited ${serial}`;
  else if (change.kind === 'delete') site.pages.delete(change.page);
  else if (change.kind === 'link') page.links.push(change.other);
  else if (change.kind === 'unlink') page.links.splice(0, 1);
  else page.movedTo = change.other === change.page ? null : change.other;
}

const page = fc.nat(8);
const change: fc.Arbitrary<Change> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constantFrom('edit', 'delete', 'move', 'link', 'unlink', 'add'),
      page,
      other: page,
    }),
  },
  { weight: 1, arbitrary: fc.constant({ kind: 'template' } as const) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('picture' as const), picture: fc.nat(2), present: fc.boolean() }),
  },
);
const ways = fc.constantFrom<Validation>('etag', 'weak etag', 'last-modified', 'both', 'none', 'fickle');

describe('an incremental export', () => {
  it('equals a full export of the same state, and fetches and packs again only what changed', async () => {
    const rounds = fc.array(fc.array(change, { maxLength: 3 }), { minLength: 2, maxLength: 2 });
    await fc.assert(
      fc.asyncProperty(ways, rounds, async (way, all) => {
        site = newSite(9);
        validation = way;
        let serial = 0;
        const projectId = await rig.addProject(server.origin);
        let before = meanings(await rig.run(projectId));
        for (const changes of all) {
          for (const each of changes) {
            serial += 1;
            apply(each, serial);
          }
          origin.reset();
          const incremental = await rig.run(projectId);
          const [sent, unchanged] = [[...origin.sent], [...origin.unchanged]];
          expect(bundleContent(incremental)).toEqual(bundleContent(await fullExport()));

          const now = meanings(incremental);
          const kept = [...now].filter(([path, meaning]) => before.get(path) === meaning);
          // The export makes the sitemap, because the origin has none.
          const same = kept.filter(([path]) => path !== '/sitemap.xml');
          const reuse = incremental.report.reuse;
          expect(reuse?.unchangedAddresses).toBeGreaterThanOrEqual(same.length);
          // The not-found page and .nojekyll never change here.
          expect(reuse?.reusedFiles).toBeGreaterThanOrEqual(same.length + 2);
          if (way !== 'none' && way !== 'fickle') {
            expect(same.filter(([path]) => sent.includes(path))).toEqual([]);
            expect(same.filter(([path]) => !unchanged.includes(path))).toEqual([]);
          }
          before = now;
        }
      }),
      { numRuns: 3, endOnFailure: true },
    );
  });

  it('has a page that a calendar may not lead to but another page links to, also if the calendar comes first', async () => {
    const year = new Date().getUTCFullYear();
    const [last, next] = [`/events/${year + 5}/12`, `/events/${year + 6}/1`];
    const links = (...paths: string[]) => paths.map((path) => `<a href="${path}">there</a>`).join('');
    const calendar = serveFiles({
      ...{ '/': links(last, '/launch'), [last]: links(next, '/beside'), '/launch': links(next), [next]: 'the launch' },
      '/beside': 'requested after the calendar was parsed',
    });
    let calendarParsed = createGate();
    const own = await startHttpSite(async (request, response) => {
      if (request.url === '/beside') calendarParsed.open();
      if (request.url === '/launch') await calendarParsed.pass();
      calendar(request, response);
    });
    try {
      const projectId = await rig.addProject(own.origin);
      const first = await rig.run(projectId);
      calendarParsed = createGate();
      const second = await rig.run(projectId);
      expect(second.files.has(`${next.slice(1)}.html`)).toBe(true);
      expect(second.manifest.contentSha256).toBe(first.manifest.contentSha256);
    } finally {
      await own.close();
    }
  });
});

describe('a page whose modules import through a folder of its import map', () => {
  const page = `<!doctype html><script type="importmap">{"imports":{"lib/":"/vendor/lib-1/"}}</script>
    <script type="module" src="/app.js"></script>`;
  const lib = { '/vendor/lib-1/a.js': 'export default 1', '/vendor/lib-1/b.js': 'export default 2' };

  /** Serves files with ETags, and responds with 304 if the ETag matches. */
  const tagged = (files: Readonly<Record<string, string>>): SiteHandler => {
    return (request, response) => {
      const body = files[request.url ?? ''];
      if (body === undefined) return response.writeHead(404).end();
      const etag = `"${createHash('sha256').update(body).digest('hex')}"`;
      const contentType = request.url?.endsWith('.js') ? 'text/javascript' : 'text/html';
      if (request.headers['if-none-match'] === etag) return response.writeHead(304, { etag }).end();
      return response.writeHead(200, { etag, 'content-type': contentType }).end(body);
    };
  };

  it('has their files, also if only a module changes and the page does not', async () => {
    const host = await startHttpSite(tagged({ '/': page, '/app.js': 'import "lib/a.js"', ...lib }));
    try {
      const project = await rig.addProject(host.origin);
      const first = await rig.run(project);
      expect(first.files.get('vendor/lib-1/a.js')).toBe('export default 1');
      expect(first.files.get('index.html')).toContain('{"lib/a.js":"./vendor/lib-1/a.js","lib/":"./vendor/lib-1/"}');
      expect(first.files.get('app.js')).toBe('import "lib/a.js"');
      expect(first.files.has('vendor/lib-1/b.js')).toBe(false);

      host.setHandler(tagged({ '/': page, '/app.js': 'import "lib/b.js"', ...lib }));
      const second = await rig.run(project);
      expect(second.files.get('index.html')).toContain('{"lib/b.js":"./vendor/lib-1/b.js",');
      const full = await rig.run(await rig.addProject(host.origin));
      expect(bundleContent(second)).toEqual(bundleContent(full));
    } finally {
      await host.close();
    }
  });
});
