import { writeFile } from 'node:fs/promises';
import { type IncomingHttpHeaders, request } from 'node:http';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import type { ContentCoding } from '../../../contract/content-coding.ts';
import { canCompress } from '../../../exporter/assemble/precompress.ts';
import { getExportJob } from '../../../platform/store/export-jobs.ts';
import { getProject, updateProject } from '../../../platform/store/projects.ts';
import { type Fixture, openFixture, type Running } from '../../deployment/fixture.ts';
import { type DirectRig, startDirectRig } from '../../helpers/direct-export.ts';
import type { ExportedBundle } from '../../helpers/export-rig.ts';
import { type HttpSite, startHttpSite } from '../../helpers/http-site.ts';
import { bundleContent, withoutPlace } from '../reuse/changing-site.ts';

const long = (text: string): string => `${text} `.repeat(200);
const link = (path: string): string => `<a href="${path}">there</a>`;

let rig: DirectRig;
let server: HttpSite;
let fixture: Fixture;
let site: Map<string, { type: string; body: string }>;

beforeAll(async () => {
  // Each file is a separate piece, so that tests can count reused files.
  [rig, fixture] = await Promise.all([startDirectRig({ pieceBytes: 1 }), openFixture()]);
  server = await startHttpSite((asked, response) => {
    const found = site.get(asked.url ?? '');
    const type = found?.type ?? 'text/html';
    response.writeHead(found === undefined ? 404 : 200, { 'content-type': type });
    response.end(found?.body ?? `<title>not here</title><p>${long('Nothing here')}`);
  });
});

beforeEach(() => {
  const page = (body: string) => ({ type: 'text/html; charset=utf-8', body: `<!doctype html><title>t</title>${body}` });
  site = new Map([
    [
      '/',
      page(`<link rel="stylesheet" href="/style.css"><img src="/big.png">${link('/a')}${link('/b')}${long('Home')}`),
    ],
    ['/a', page(`${link('/notes.txt')}${link('/notes.txt-old.txt')}${link('/short')}${long('A page')}`)],
    ['/b', page(long('B page'))],
    ['/short', page('short')],
    ['/style.css', { type: 'text/css', body: `body{order:1}/*${long('style')}*/` }],
    ['/notes.txt', { type: 'text/plain', body: long('a note') }],
    ['/notes.txt-old.txt', { type: 'text/plain', body: long('old note') }],
    ['/big.png', { type: 'image/png', body: long('picture') }],
  ]);
});

afterAll(async () => {
  await Promise.all([server.close(), rig.stop(), fixture.close()]);
});

async function addProject(precompress: ContentCoding[]): Promise<string> {
  return rig.addProject(server.origin, { precompress });
}

async function switchTo(projectId: string, precompress: ContentCoding[]): Promise<void> {
  const project = await getProject(rig.db, projectId);
  if (project !== undefined) await updateProject(rig.db, projectId, { settings: { ...project.settings, precompress } });
}

async function full(precompress: ContentCoding[]): Promise<ExportedBundle> {
  return rig.run(await addProject(precompress));
}

function pathsOf({ manifest }: ExportedBundle): string[] {
  return manifest.files.map(({ path }) => path);
}

function addText(path: string, text: string): void {
  const before = site.get(path);
  if (before !== undefined) site.set(path, { ...before, body: before.body + text });
}

type RawResponse = { status: number; headers: IncomingHttpHeaders; body: Buffer };

/** Sends a request without the automatic content codings of `fetch`. */
function send(
  running: Running,
  path: string,
  headers: Record<string, string> = {},
  method = 'GET',
): Promise<RawResponse> {
  return new Promise((resolve, reject) => {
    const sent = request(running.url + path, { method, headers }, async (response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of response) chunks.push(Buffer.from(chunk));
      resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks) });
    });
    sent.on('error', reject).end();
  });
}

describe('an export with precompressed files', () => {
  it('has siblings of text above 1 KiB, is deterministic, and has the same pages as one without', async () => {
    const [one, other, plain] = [await full(['gzip', 'br', 'br']), await full(['br', 'gzip']), await full([])];
    const pages = ['.nojekyll', '404.html', 'a.html', 'b.html', 'big.png', 'index.html'];
    const own = [...pages, 'notes.txt', 'notes.txt-old.txt', 'short.html', 'sitemap.xml'];
    expect(pathsOf(plain)).toEqual([...own, 'style.css']);
    const withSiblings = [...own, 'style.css'].flatMap((path) =>
      /^(?:big|short|sitemap|\.no)/.test(path) ? [path] : [path, `${path}.br`, `${path}.gz`],
    );
    expect(pathsOf(one)).toEqual(withSiblings.sort());
    expect(bundleContent(one)).toEqual(bundleContent(other));
    expect(one.manifest.files).toEqual(other.manifest.files);
    expect(one.manifest.contentSha256).not.toBe(plain.manifest.contentSha256);
    expect(one.manifest.pageCount).toBe(plain.manifest.pageCount);
    const withoutSiblings = one.manifest.files.filter(({ encoding }) => encoding === undefined);
    expect(withoutSiblings.map(withoutPlace)).toEqual(plain.manifest.files.map(withoutPlace));
  });

  it('keeps files of the origin with the name of a sibling, also if they appear or vanish between exports', async () => {
    const projectId = await addProject(['br', 'gzip']);
    await rig.run(projectId);
    addText('/a', link('/notes.txt.br') + link('/b.html.GZ/deep.txt'));
    site.set('/notes.txt.br', { type: 'application/octet-stream', body: 'of the origin' });
    site.set('/b.html.GZ/deep.txt', { type: 'text/plain', body: 'deep' });
    const next = await rig.run(projectId);
    expect(next.files.get('notes.txt.br')).toBe('of the origin');
    expect(pathsOf(next)).toEqual(expect.arrayContaining(['b.html.GZ/deep.txt', 'b.html.br', 'notes.txt.gz']));
    expect(pathsOf(next)).not.toContain('b.html.gz');
    expect(bundleContent(next)).toEqual(bundleContent(await full(['br', 'gzip'])));

    site.delete('/notes.txt.br');
    const last = await rig.run(projectId);
    expect(last.manifest.files.find(({ path }) => path === 'notes.txt.br')?.encoding).toBe('br');
    expect(bundleContent(last)).toEqual(bundleContent(await full(['br', 'gzip'])));
  });

  it('reuses unchanged files with their siblings, and nothing after the setting has changed', async () => {
    const projectId = await addProject(['br']);
    const first = await rig.run(projectId);
    addText('/b', long('edited'));
    const edited = await rig.run(projectId);
    // The edited page and its sibling.
    expect(edited.report.reuse?.reusedFiles).toBe(pathsOf(first).length - 2);
    expect(bundleContent(edited)).toEqual(bundleContent(await full(['br'])));
    for (const codings of [['gzip'], []] satisfies ContentCoding[][]) {
      await switchTo(projectId, codings);
      const switched = await rig.run(projectId);
      expect(switched.report.reuse?.reusedFiles).toBe(0);
      expect(bundleContent(switched)).toEqual(bundleContent(await full(codings)));
    }
  });

  it('fails at once with instructions if this Node lacks a coding', async () => {
    const jobId = await rig.addJob(await addProject(['zstd']));
    await rig.runStages(jobId);
    const job = await getExportJob(rig.db, jobId);
    if (canCompress('zstd')) expect(pathsOf(await rig.read(jobId))).toContain('a.html.zst');
    else
      expect([job?.status, job?.error]).toEqual(['failed', expect.stringMatching(/zstd needs Node 22\.15 or newer/)]);
  });
});

describe('a deployment of such an export', () => {
  let running: Running;
  beforeAll(async () => {
    const { row } = await full(['br', 'gzip']);
    const archive = join(fixture.folder, 'bundle.tar.gz');
    await writeFile(archive, await rig.objects.read(row.archiveKey ?? ''));
    await fixture.writeValues({ enabled: true, bundleUrl: pathToFileURL(archive).href });
    running = await fixture.start();
    await running.until('serving', ({ state }) => state === 'serving');
  });

  const codings = [
    ['br', 'br', brotliDecompressSync],
    ['gzip', 'gzip', gunzipSync],
  ] as const;

  it.each(codings)(
    'responds to Accept-Encoding "%s" with %s, whose bytes decode to the file',
    async (accepted, coding, decode) => {
      for (const [path, status] of [
        ['/a', 200],
        ['/style.css', 200],
        ['/nothing', 404],
      ] as const) {
        const [plain, encoded] = [
          await send(running, path),
          await send(running, path, { 'accept-encoding': accepted }),
        ];
        expect([plain.status, encoded.status]).toEqual([status, status]);
        expect(decode(encoded.body)).toEqual(plain.body);
        expect(encoded.headers['content-encoding']).toBe(coding);
        expect(encoded.headers['content-length']).toBe(String(encoded.body.length));
        expect(plain.headers['content-encoding']).toBeUndefined();
        expect(encoded.headers['content-type']).toBe(plain.headers['content-type']);
        expect([plain.headers.vary, encoded.headers.vary]).toEqual(['Accept-Encoding', 'Accept-Encoding']);
        expect(encoded.headers.etag).not.toBe(plain.headers.etag);
        const head = await send(running, path, { 'accept-encoding': accepted }, 'HEAD');
        const { date: _, ...same } = encoded.headers;
        expect([head.status, head.headers, head.body.length]).toEqual([status, expect.objectContaining(same), 0]);
      }
    },
  );

  it('has a separate ETag per coding for conditions and ranges', async () => {
    const br = { 'accept-encoding': 'br' };
    const [plain, encoded] = [await send(running, '/a'), await send(running, '/a', br)];
    const tags = { plain: plain.headers.etag ?? '', encoded: encoded.headers.etag ?? '' };
    const same = await send(running, '/a', { ...br, 'if-none-match': tags.encoded });
    expect([same.status, same.body.length, same.headers.vary]).toEqual([304, 0, 'Accept-Encoding']);
    expect([same.headers.etag, same.headers['content-encoding']]).toEqual([tags.encoded, undefined]);
    expect((await send(running, '/a', { ...br, 'if-none-match': tags.plain })).body).toEqual(encoded.body);
    expect((await send(running, '/a', { 'if-none-match': tags.encoded })).body).toEqual(plain.body);

    const part = await send(running, '/a', { ...br, range: 'bytes=3-9', 'if-range': tags.encoded });
    expect([part.status, part.headers['content-encoding']]).toEqual([206, 'br']);
    expect(part.headers['content-range']).toBe(`bytes 3-9/${encoded.body.length}`);
    expect(part.body).toEqual(encoded.body.subarray(3, 10));
    const other = await send(running, '/a', { ...br, range: 'bytes=3-9', 'if-range': tags.plain });
    expect([other.status, other.body]).toEqual([200, encoded.body]);
    const beyond = await send(running, '/a', { ...br, range: 'bytes=99999-' });
    expect([beyond.status, beyond.headers['content-encoding']]).toEqual([416, undefined]);
  });

  it('has no URL for a sibling, and sends no Vary for a file without siblings', async () => {
    for (const path of ['/a.html.br', '/style.css.gz', '/index.html.br']) {
      expect((await send(running, path)).status).toBe(404);
      expect((await send(running, path, {}, 'HEAD')).status).toBe(404);
    }
    const picture = await send(running, '/big.png', { 'accept-encoding': 'br' });
    expect([picture.headers.vary, picture.headers['content-encoding']]).toEqual([undefined, undefined]);
    expect(String(picture.body)).toBe(long('picture'));
  });
});
