import { type DirectRig, startDirectRig } from '../../helpers/direct-export.ts';
import { type ExportRig, startExportRig } from '../../helpers/export-rig.ts';
import { type HttpSite, startHttpSite } from '../../helpers/http-site.ts';
import { createDatabase } from '../../helpers/test-database.ts';

const PAGES = 40;
const SETTINGS = { search: 'pagefind' };

let server: HttpSite;
let site: Map<string, { type: string; body: string }>;

const page = (title: string, body: string) => ({
  type: 'text/html; charset=utf-8',
  body: `<!doctype html><html lang="en"><title>${title}</title><body><main><h1>${title}</h1>${body}</main></body></html>`,
});

beforeEach(async () => {
  const links = Array.from({ length: PAGES }, (_, index) => `<a href="/page/${index}">there</a>`).join('');
  site = new Map([['/', page('Start', links)]]);
  for (let index = 0; index < PAGES; index += 1) site.set(`/page/${index}`, page(`Page ${index}`, `Text ${index}`));
  server = await startHttpSite((asked, response) => {
    const found = site.get(asked.url ?? '');
    response.writeHead(found === undefined ? 404 : 200, { 'content-type': found?.type ?? 'text/html' });
    response.end(found?.body ?? 'not here');
  });
});

afterEach(() => server.close());

describe('the search of an incremental export', () => {
  let rig: DirectRig;
  beforeAll(async () => {
    rig = await startDirectRig({ pieceBytes: 1 });
  });
  afterAll(() => rig.stop());

  it('is that of a full one, and pages are reused', async () => {
    const project = await rig.addProject(server.origin, SETTINGS);
    const first = await rig.run(project);
    const second = await rig.run(project);
    expect(second.manifest.contentSha256).toBe(first.manifest.contentSha256);
    expect(second.report.reuse?.reusedFiles).toBeGreaterThanOrEqual(PAGES);

    site.set('/page/7', page('Page 7', 'Text about quokkas'));
    const changed = await rig.run(project);
    expect(changed.report.reuse?.reusedFiles).toBeGreaterThanOrEqual(PAGES - 1);
    const full = await rig.run(await rig.addProject(server.origin, { ...SETTINGS, incremental: false }));
    expect(changed.manifest.contentSha256).toBe(full.manifest.contentSha256);
    expect(changed.manifest.contentSha256).not.toBe(first.manifest.contentSha256);
  });

  it('gives way to a search that the site gets', async () => {
    const project = await rig.addProject(server.origin, SETTINGS);
    expect((await rig.run(project)).files.get('page/1.html')).toContain('shortcut.js');
    const script = { type: 'text/javascript', body: '1' };
    site.set('/searchindex.js', script).set('/searchtools.js', script);
    const scripts = '<script src="/searchindex.js"></script><script src="/searchtools.js"></script>';
    site.set('/', page('Start', `${scripts}<a href="/page/1">there</a>`));
    const { files, report } = await rig.run(project);
    expect(report.search).toMatchObject({ state: 'own', index: 'searchindex.js' });
    expect(files.get('page/1.html')).not.toContain('shortcut.js');
    expect(files.has('_search.html')).toBe(false);
  });
});

describe('a project with search, exported by workers', () => {
  let rig: ExportRig;
  beforeAll(async () => {
    rig = await startExportRig(await createDatabase());
  });
  afterAll(() => rig.stop());

  it('has it in its bundle, also if a round is over before the pages are made', async () => {
    // Many batches, which are shared in rounds that end at once.
    await rig.startWorker({ batchFiles: 1, pieceBytes: 1, soloCrawlMs: 1, activityMs: 1 });
    const { files, report, manifest } = await rig.run({ origin: server.origin, settings: SETTINGS });
    expect(report.search).toMatchObject({
      ...{ state: 'made', reason: null },
      languages: [{ language: 'en', pageCount: PAGES + 1, page: '_search.html' }],
    });
    expect(files.get('_search.html')).toContain('data-galley-search');
    expect(manifest.pageCount).toBe(PAGES + 1);
  });
});
