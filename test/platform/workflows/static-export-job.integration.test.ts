import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { readBundleHead } from '../../../bundle/read-bundle.ts';
import { resolveRequest } from '../../../bundle/resolve-request.ts';
import { contentDigestLine } from '../../../contract/bundle.ts';
import { TASK_QUEUES, WORKFLOW_TYPES } from '../../../contract/names.ts';
import { createSite } from '../../../deployment/site.ts';
import { bundleKey } from '../../../exporter/object-keys.ts';
import { getCrawl } from '../../../platform/store/crawls.ts';
import { getExportJob } from '../../../platform/store/export-jobs.ts';
import type { ExportedBundle, ExportRig } from '../../helpers/export-rig.ts';
import { fixtureSite } from '../../helpers/fixture-site.ts';
import { type HttpSite, serveFiles } from '../../helpers/http-site.ts';
import { type SiteFixture, startSiteFixture } from './site-fixture.ts';

const HOME = 'https://docs.example.com';

let fixture: SiteFixture;
let rig: ExportRig;
let site: HttpSite;
let assetHost: HttpSite;

beforeAll(async () => {
  fixture = await startSiteFixture();
  ({ rig, site, assets: assetHost } = fixture);
});

beforeEach(() => fixture.reset());

afterAll(() => fixture.stop());

describe('an export of a whole site', () => {
  let bundle: ExportedBundle;
  let requests: readonly string[];

  beforeAll(async () => {
    fixture.reset();
    bundle = await rig.run({ origin: site.origin, settings: { incremental: false } });
    requests = [...site.requests];
  });

  it('requests every URL once, also robots.txt and the sitemap', () => {
    expect(requests).toEqual(expect.arrayContaining(['/robots.txt', '/sitemap.xml']));
    expect(requests.filter((path, index) => requests.indexOf(path) !== index)).toEqual([]);
  });

  it('bundles every page and asset with links between them, and reports the rest', () => {
    const { row, manifest, files, report } = bundle;
    expect(row).toMatchObject({ status: 'completed', progress: 100, error: null, pageCount: manifest.pageCount });
    const pages = ['index.html', 'guide/index.html', 'guide/start.html', 'café/menü.html', '日本.html'];
    const more = ['based/page.html', 'deep/er/other.html', 'listed-only.html', '404.html'];
    const assets = ['img/a@2x.png', 'img/wider.png', 'img/bild eins.png', 'deep/er/pic.png', 'sprite.svg'];
    expect([...files.keys()]).toEqual(expect.arrayContaining([...pages, ...more, ...assets]));
    expect([...files.keys()].filter((path) => path.startsWith('search.'))).toHaveLength(2);
    expect(manifest.pageCount).toBe(pages.length + more.length - 1 + 2);
    expect([...files.values()]).toContain('wOF2external');

    const home = files.get('index.html') ?? '';
    expect(home).toContain('href="guide/start.html#first"');
    expect(home).toContain('href="https://elsewhere.example/page"');
    expect(home).not.toContain(site.origin);
    expect(home).not.toContain(assetHost.origin);
    expect(files.get('css/main.css')).toMatch(/url\("?\.\.\/img\/bg\.png/);
    expect(manifest.redirects).toEqual(
      expect.arrayContaining([
        { from: '/old', to: '/guide/start#first', status: 302 },
        { from: '/guide', to: '/guide/', status: 301 },
        { from: '/away', to: 'https://elsewhere.example/page', status: 301 },
      ]),
    );
    expect(report.brokenLinks).toEqual(
      expect.arrayContaining([
        { url: `${HOME}/gone`, reason: 'HTTP 404', status: 404, referrers: [`${HOME}/`] },
        { url: `${HOME}/guide/missing`, reason: 'HTTP 404', status: 404, referrers: [`${HOME}/guide/`] },
        expect.objectContaining({ url: `${HOME}/loop`, reason: expect.stringContaining('redirects') }),
      ]),
    );
    expect(report.skippedPages).toEqual([{ url: `${HOME}/private/x`, reason: 'robots.txt disallows it' }]);
  });

  it('lists exactly the files in the archive, in order, and leaves nothing else behind', async () => {
    const { row, manifest, files } = bundle;
    expect(manifest.files.map((file) => file.path)).toEqual([...files.keys()]);
    expect(manifest.files.map((file) => file.path)).toEqual([...files.keys()].sort());
    const digest = createHash('sha256');
    for (const file of manifest.files) digest.update(contentDigestLine(file));
    expect(manifest.contentSha256).toBe(digest.digest('hex'));
    expect(row.contentSha256).toBe(manifest.contentSha256);
    const archive = await rig.objects.read(bundleKey(row.archiveSha256 ?? ''));
    const head = await readBundleHead(Readable.from([archive]));
    expect(row.manifestSha256).toBe(createHash('sha256').update(head.manifest).digest('hex'));
    expect(await fixture.leftovers(row.id)).toEqual([]);
    expect(await getCrawl(rig.db, row.id)).toBeUndefined();
  });

  it('records the URL of each page, at which a deployment serves it', () => {
    const { manifest } = bundle;
    const deployed = createSite('/nowhere', 'x', manifest);
    const pages = ['/', '/guide/', '/guide/start', '/search?q=a&p=1', '/search?q=b', '/caf%C3%A9/men%C3%BC'];
    for (const url of pages) {
      const found = resolveRequest(url, deployed);
      expect(found).toMatchObject({ kind: 'file', file: { url } });
      if (found.kind !== 'file') continue;
      const byName = resolveRequest(encodeURI(`/${found.file.path}`), deployed);
      expect(byName).toEqual({ kind: 'redirect', location: url, status: 308 });
    }
    for (const path of ['404.html', 'css/main.css']) {
      expect(manifest.files.find((file) => file.path === path)).not.toHaveProperty('url');
    }
  });

  it('sets search attributes and current details for the Temporal UI', async () => {
    const handle = rig.temporal.client.workflow.getHandle(bundle.row.id);
    const { searchAttributes } = await handle.describe();
    expect(searchAttributes).toMatchObject({ GalleySite: ['docs.example.com'], GalleyVersion: [bundle.row.version] });
    const details = await handle.query<{ currentDetails: string }>('__temporal_workflow_metadata');
    expect(details.currentDetails).toMatch(/docs\.example\.com.*completed: \d+ files/s);
  });

  it('is not changed when its workflow runs again', async () => {
    const again = await rig.temporal.client.workflow.execute(WORKFLOW_TYPES.staticExportJob, {
      ...{ workflowId: `${bundle.row.id}-again`, taskQueue: TASK_QUEUES.platform, args: [{ jobId: bundle.row.id }] },
    });
    expect(again).toMatchObject({ status: 'over' });
    expect(await getExportJob(rig.db, bundle.row.id)).toEqual(bundle.row);
  });
});

describe('staticExportJob', () => {
  it('exports only the requested paths with their assets, and links to the origin for other pages', async () => {
    const { files, manifest, report } = await rig.run({ origin: site.origin, paths: ['/', '/guide/start'] });
    expect([...files.keys()].filter((path) => path.endsWith('.html')).sort()).toEqual([
      '404.html',
      'guide/start.html',
      'index.html',
    ]);
    expect(files.has('css/theme.css')).toBe(true);
    expect(manifest.pageCount).toBe(2);
    expect(files.get('index.html')).toContain(`href="${HOME}/guide/"`);
    expect(report.brokenLinks).toEqual([]);
  });

  it("keeps links to other hosts if the project's settings say so", async () => {
    const kept = await rig.run({ origin: site.origin, settings: { external: 'keep' } });
    expect(kept.files.get('index.html')).toContain(`${assetHost.origin}/logo.png`);
    expect([...kept.files.keys()].some((path) => path.startsWith('_external'))).toBe(false);
    const listed = await rig.run({ origin: site.origin, settings: { external: ['127.0.0.1'] } });
    expect(listed.files.get('index.html')).toContain(`${assetHost.origin}/logo.png`);
  });

  it('reports failures of other hosts with the pages that need them, and requests nothing from kept hosts', async () => {
    const page = `<img src="${assetHost.origin}/gone.png"><link rel="stylesheet" href="${assetHost.origin}/ext.css"><img src="http://kept.invalid/a.png">`;
    site.setHandler(serveFiles({ '/': `${page}<a href="/b">b</a>`, '/b': page }));
    const { files, report } = await rig.run({ origin: site.origin, settings: { external: ['kept.invalid'] } });
    const gone = report.brokenLinks.find(({ url }) => url === `${assetHost.origin}/gone.png`);
    expect(gone).toMatchObject({ status: 404, reason: 'HTTP 404' });
    expect(gone?.referrers.toSorted()).toEqual([`${HOME}/`, `${HOME}/b`]);
    expect(report.brokenLinks).toHaveLength(1);
    expect(files.get('index.html')).toContain(`src="${assetHost.origin}/gone.png"`);
    expect(files.get('index.html')).toContain('src="http://kept.invalid/a.png"');
    expect(files.get('index.html')).toMatch(/href="_external\/127\.0\.0\.1_\d+\/ext\.css"/);
  });

  it('streams a file that exceeds the memory limit, sent plain or compressed', async () => {
    const film = 'frame '.repeat(200_000);
    site.setHandler(
      serveFiles({
        '/': '<video src="/film.mp4"></video><a href="/data.bin">data</a>',
        '/film.mp4': { body: film, contentType: 'video/mp4' },
        '/data.bin': {
          body: gzipSync(film),
          headers: { 'content-encoding': 'gzip' },
          contentType: 'application/x-data',
        },
      }),
    );
    const first = await rig.run({ origin: site.origin });
    expect(first.files.get('film.mp4') === film).toBe(true);
    expect(first.files.get('data.bin') === film).toBe(true);
    const entry = first.manifest.files.find((file) => file.path === 'film.mp4');
    expect(entry).toEqual({
      ...{ offset: expect.any(Number), length: expect.any(Number) },
      path: 'film.mp4',
      size: film.length,
      sha256: createHash('sha256').update(film).digest('hex'),
      contentType: 'video/mp4',
    });
    const second = await rig.run({ origin: site.origin });
    expect(second.manifest.contentSha256).toBe(first.manifest.contentSha256);
  });

  it('retries soft failures, and reports permanent ones', async () => {
    const serve = serveFiles(fixtureSite(assetHost.origin));
    const attempts = new Map<string, number>();
    site.setHandler((request, response) => {
      const url = request.url ?? '';
      attempts.set(url, (attempts.get(url) ?? 0) + 1);
      const failing = url === '/img/bg.png' || (url === '/guide/start' && (attempts.get(url) ?? 0) < 3);
      if (failing) response.writeHead(500).end();
      else serve(request, response);
    });
    const { files, report } = await rig.run({ origin: site.origin });
    expect(files.has('guide/start.html')).toBe(true);
    expect(report.brokenLinks).toContainEqual({
      url: `${HOME}/img/bg.png`,
      reason: 'HTTP 500',
      status: 500,
      referrers: [`${HOME}/css/main.css`],
    });
  });
});
