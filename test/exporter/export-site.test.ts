import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { gunzipSync } from 'node:zlib';
import { pino } from 'pino';
import { readBundleHead } from '../../bundle/read-bundle.ts';
import { exportReport } from '../../contract/admin-api.ts';
import { HEAD_LENGTH_BYTES, readHeadLength } from '../../contract/bundle-head.ts';
import { createSigner, createVerifier } from '../../contract/signing.ts';
import type { ExportRequest } from '../../exporter/crawl/open-export.ts';
import { createExportDeps, type ExportDeps } from '../../exporter/export-deps.ts';
import { type ExportStage, exportInProcess, SINGLE_PROCESS_LIMITS } from '../../exporter/export-site.ts';
import { reportKey } from '../../exporter/object-keys.ts';
import type { ExportObjects } from '../../exporter/ports.ts';
import { createLocalStageRunner, type Progress } from '../../exporter/stage.ts';
import { createMemoryCrawlStore } from '../../exporter/store/memory-crawl-store.ts';
import { createSpill } from '../../exporter/store/spill.ts';
import { exportSettings } from '../../platform/activities/export/export-settings.ts';
import { createFileStore } from '../../platform/objects/file-store.ts';
import { projectSettings } from '../../platform/project-settings.ts';
import { type HttpSite, serveFiles, startHttpSite } from '../helpers/http-site.ts';
import { readBundleArchive } from '../helpers/read-bundle.ts';
import { emptiedFolder } from '../helpers/temporary-folder.ts';

const SITE = serveFiles({
  '/': '<a href="/guide">Guide</a><a href="/gone">Gone</a>',
  '/guide': '<title>Guide</title><img src="/logo.svg" alt="">',
  '/logo.svg': { body: '<svg xmlns="http://www.w3.org/2000/svg"/>', contentType: 'image/svg+xml' },
});

const folder = emptiedFolder();
let site: HttpSite;
let objects: ExportObjects;

beforeEach(async () => {
  site = await startHttpSite(SITE);
  objects = await createFileStore({ folder: join(folder, 'objects'), now: Date.now });
});

afterEach(async () => {
  await site.close();
});

function requestOf(): ExportRequest {
  const job = { id: `se_${randomBytes(8).toString('hex')}`, version: '1', createdAt: new Date() };
  const project = { origin: site.origin, settings: projectSettings.parse({}) };
  return {
    projectId: 'prj',
    settings: exportSettings({ ...job, domain: 'docs.example.com', paths: null }, project),
    incremental: false,
  };
}

function depsOf(signal: AbortSignal, change: Partial<ExportDeps> = {}, onProgress: (at: Progress) => void = () => {}) {
  return createExportDeps({
    store: createMemoryCrawlStore({ spill: createSpill(join(folder, 'rows')) }),
    objects,
    logger: pino({ level: 'silent' }),
    runStage: createLocalStageRunner({ signal, onProgress }),
    limits: SINGLE_PROCESS_LIMITS,
    ...change,
  });
}

const never = new AbortController().signal;

describe('a stage in one process', () => {
  it('leaves nothing running when it ends', async () => {
    const runStage = createLocalStageRunner({ signal: never, onProgress: () => {} });
    const signals: AbortSignal[] = [];
    const run = (end: () => void) =>
      runStage({ jobId: 'se_1', details: () => null }, async ({ signal }) => {
        signals.push(signal);
        expect(signal.aborted).toBe(false);
        end();
      });
    await run(() => {});
    const failed = run(() => {
      throw new Error('no space left on device');
    });
    await expect(failed).rejects.toThrow('no space left on device');
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, true]);
  });
});

describe('an export in one process', () => {
  it('runs all stages and stores the archive and the report', async () => {
    const request = requestOf();
    const stages: ExportStage[] = [];
    const reached: Progress[] = [];
    const packed = await exportInProcess(
      depsOf(never, {}, (at) => reached.push(at)),
      request,
      { signal: never, onStage: (stage) => stages.push(stage) },
    );
    expect(packed).toMatchObject({ state: 'completed', pageCount: 2, brokenLinks: 1, reusedFiles: 0 });
    expect(stages).toEqual(['discovering', 'crawling', 'freezing', 'rewriting', 'packing']);
    expect(reached).toContainEqual({ progress: expect.any(Number), pageCount: 2 });
    const { manifest, files } = await readBundleArchive(await objects.read(packed.archiveKey));
    expect(manifest).toMatchObject({ jobId: request.settings.jobId, contentSha256: packed.contentSha256 });
    expect([...files.keys()]).toEqual(['.nojekyll', '404.html', 'guide.html', 'index.html', 'logo.svg', 'sitemap.xml']);
    const report = JSON.parse(String(await objects.read(reportKey(request.settings.jobId))));
    expect(report.brokenLinks).toMatchObject([{ url: 'https://docs.example.com/gone', status: 404 }]);
  });

  it('has the files of the site to which values lead, and rewrites them, but not those that it lacks', async () => {
    const own = 'https://docs.example.com';
    const data = `{"a":"${own}/i/data.png"}`;
    site.setHandler(
      serveFiles({
        '/robots.txt': { body: 'User-agent: *\nDisallow: /secret', contentType: 'text/plain' },
        '/':
          `<p data-a="/i/a.png" data-b="/i/none.png" data-c="/secret/c.png" data-d="/avatar/4" data-e="/app/route">` +
          `<model-viewer src="/m/chair.usdz"></model-viewer><script>x=["${own}/i/s.png"];load("/data.json")</script>`,
        '/404.html': { body: '<p>Not here</p>', status: 404 },
        '/app/route': '<p>Not here</p>',
        '/data.json': { body: data, contentType: 'application/json' },
        ...Object.fromEntries(
          ['/i/a.png', '/i/s.png', '/i/data.png', '/secret/c.png', '/avatar/4', '/m/chair.usdz'].map((path) => [
            path,
            { body: path, contentType: 'image/png' },
          ]),
        ),
      }),
    );
    const runs = [await exportInProcess(depsOf(never), requestOf(), { signal: never })];
    const { files } = await readBundleArchive(await objects.read(runs[0]?.archiveKey ?? ''));
    expect([...files.keys()]).toEqual([
      ...[
        '.nojekyll',
        '404.html',
        'avatar/4',
        'data.json',
        'i/a.png',
        'i/data.png',
        'i/s.png',
        'index.html',
        'm/chair.usdz',
      ],
      'robots.txt',
      'sitemap.xml',
    ]);
    const page = String(files.get('index.html'));
    expect(page).toContain(
      'data-a="i/a.png" data-b="/i/none.png" data-c="/secret/c.png" data-d="avatar/4" data-e="/app/route"',
    );
    expect(page).toContain('new window.URL("i/s.png"');
    expect(String(files.get('data.json'))).toBe('{"a":"/i/data.png"}');
    expect(site.requests).not.toContain('/secret/c.png');
    expect(runs[0]?.brokenLinks).toBe(0);
    runs.push(await exportInProcess(depsOf(never), requestOf(), { signal: never }));
    expect(runs[1]?.contentSha256).toBe(runs[0]?.contentSha256);
  });

  it('counts in its report how often text and code still have the address of the origin', async () => {
    const { origin } = site;
    const script = { body: `a="${origin}/x";b="${origin}/"`, contentType: 'text/javascript' };
    site.setHandler(
      serveFiles({
        '/': `<a href="${origin}/">Home</a> <code>${origin}</code><script src="/a.js"></script>`,
        '/a.js': script,
        '/robots.txt': { body: `Sitemap: ${origin}/s.xml`, contentType: 'text/plain' },
      }),
    );
    const request = requestOf();
    await exportInProcess(depsOf(never), request, { signal: never });
    const report = exportReport.parse(JSON.parse(String(await objects.read(reportKey(request.settings.jobId)))));
    expect([report.counts.originUrls, report.originUrls]).toEqual([
      3,
      [
        { url: 'https://docs.example.com/a.js', count: 2 },
        { url: 'https://docs.example.com/', count: 1 },
      ],
    ]);
  });

  it('reports links to ids that their page does not have', async () => {
    const never = new AbortController().signal;
    site.setHandler(
      serveFiles({
        '/': '<a href="/b#here">1</a><a href="/b#gone">2</a><a href="/moved#gone">3</a><a href="/app#any">4</a><a href="/x.pdf#page=2">5</a><a href="#lost">6</a>',
        '/b': '<p id="here"><a href="/#lost">Home</a><a href="b#gone">B</a>',
        '/moved': { body: '', status: 302, headers: { location: '/b' } },
        '/app': '<script src="/app.js"></script>',
        '/app.js': 'render()',
        '/x.pdf': { body: '%PDF-1.7', contentType: 'application/pdf' },
      }),
    );
    const request = requestOf();
    await exportInProcess(depsOf(never), request, { signal: never });
    const report = exportReport.parse(JSON.parse(String(await objects.read(reportKey(request.settings.jobId)))));
    const [home, b] = ['https://docs.example.com/', 'https://docs.example.com/b'];
    expect([report.counts.brokenAnchors, report.brokenAnchors]).toEqual([
      2,
      [
        { url: `${home}#lost`, referrers: [b, home] },
        { url: `${b}#gone`, referrers: [b, home] },
      ],
    ]);
  });

  it('names the gzip member of each file, signs the manifest, and packs an unchanged site into the same bytes', async () => {
    const { privateKey, publicKey } = generateKeyPairSync('ed25519');
    const signer = createSigner(privateKey.export({ type: 'pkcs8', format: 'pem' }).toString());
    const verifier = createVerifier(publicKey.export({ type: 'spki', format: 'pem' }).toString());
    const contents: Buffer[] = [];
    for (const change of [{ signer }, {}]) {
      const { archiveKey } = await exportInProcess(depsOf(never, change), requestOf(), { signal: never });
      const archive = await objects.read(archiveKey);
      const content = archive.subarray(readHeadLength(archive.subarray(0, HEAD_LENGTH_BYTES)));
      const { manifest, files } = await readBundleArchive(archive);
      expect(manifest.files).toHaveLength(6);
      for (const { path, offset = -1, length = 0 } of manifest.files) {
        expect(gunzipSync(content.subarray(offset, offset + length)).includes(files.get(path) ?? 'no file')).toBe(true);
      }
      contents.push(content);
      const head = await readBundleHead(Readable.from([archive]));
      const signature = head.signature?.toString();
      expect(signature === undefined ? 'unsigned' : verifier.verifies(head.manifest, signature)).toBe(
        'signer' in change ? true : 'unsigned',
      );
    }
    expect(contents[0]?.equals(contents[1] ?? Buffer.alloc(0))).toBe(true);
  });

  it('retries a failed stage without waiting for the leases of the first attempt', async () => {
    const failures = ['exports/', 'exports/', 'bundles/'];
    const put: ExportObjects['put'] = async (key, ...rest) => {
      const isNext = failures[0] !== undefined && key.startsWith(failures[0]);
      if (isNext && failures.shift() !== undefined) throw new Error('no space left on device');
      return objects.put(key, ...rest);
    };
    const packed = await exportInProcess(depsOf(never, { objects: { ...objects, put } }), requestOf(), {
      signal: never,
    });
    expect([packed.pageCount, failures]).toEqual([2, []]);
  });

  it('decodes texts with the charset of the page that loads them, also if only they changed since the last export', async () => {
    const koi8r = (body: string) => ({
      body: Buffer.from(body, 'latin1'),
      contentType: 'text/css',
      headers: { etag: '"1"' },
    });
    const page = {
      ...koi8r('<link rel=stylesheet href=/a.css><a href="/s?q=\xcf">\xcf</a><img src="http://127.0.0.1:1/x?q=\xcf">'),
      contentType: 'text/html; charset=koi8-r',
    };
    const found = { '/s?q=%CF': 'found', '/b.css': koi8r('p::after{content:"\xcf"}') };
    const style = (text: string) => koi8r(`@import "b.css";p::before{content:"${text}"}`);
    const deps = depsOf(never);
    const exported = async (text: string) => {
      site.setHandler(serveFiles({ '/': page, '/a.css': style(text), ...found }));
      const request = { ...requestOf(), incremental: true };
      const { archiveKey } = await exportInProcess(deps, request, { signal: never });
      const { files } = await readBundleArchive(await objects.read(archiveKey));
      return ['index.html', 'a.css', 'b.css'].map((name) => String(files.get(name)));
    };
    const [first, before, imported] = await exported('\xcf');
    expect(first).toMatch(
      /^<meta charset="utf-8"><link .*href="s\.\w+\.html">о<.*"http:\/\/127\.0\.0\.1:1\/x\?q=%CF">$/,
    );
    expect([before, imported]).toEqual(['@import "b.css";p::before{content:"о"}', 'p::after{content:"о"}']);
    expect((await exported('\xcf\xcf'))[1]).toBe('@import "b.css";p::before{content:"оо"}');
  });

  it('fails at once with a permanent failure', async () => {
    site.setHandler(serveFiles({}));
    const deps = depsOf(never);
    await expect(exportInProcess(deps, requestOf(), { signal: never })).rejects.toMatchObject({
      message: expect.stringContaining("The start page https://docs.example.com/ (at its origin) can't be fetched"),
      type: 'ExportImpossible',
    });
    expect(site.requests.filter((path) => path === '/')).toHaveLength(1);
  });

  it('ends when its signal fires', async () => {
    const stop = new AbortController();
    const reason = new Error('stopped');
    site.setHandler((request, response) => {
      if (request.url === '/guide') stop.abort(reason);
      else SITE(request, response);
    });
    await expect(exportInProcess(depsOf(stop.signal), requestOf(), { signal: stop.signal })).rejects.toBe(reason);
  });
});
