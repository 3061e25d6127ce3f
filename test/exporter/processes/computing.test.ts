import { hash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makePiece, type PieceInput } from '../../../exporter/assemble/make-piece.ts';
import { parseResponse, type ResponseToParse } from '../../../exporter/crawl/read-response.ts';
import { createComputing } from '../../../exporter/processes/computing.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';

/** Why a document is unread that ended its process. */
const DIED = 'its process ended: SIGABRT';
const SITE = { domain: 'docs.example.com', origin: 'https://docs.example.com' };

const { apart } = createComputing({ processes: 2 });

/** A view into a larger buffer, as responses and segments are. */
function view(text: string, encoding: BufferEncoding = 'utf8'): Buffer {
  return Buffer.concat([Buffer.from('before'), Buffer.from(text, encoding), Buffer.from('after')]).subarray(6, -5);
}

const page = (body: string): string => `<!doctype html><html><head><title>A</title></head><body>${body}</body></html>`;

const RESPONSES: Record<string, ResponseToParse> = {
  'a page with links': response({ body: view(page('<a href="/b">b</a><img src="c.png">')) }),
  'a page in another charset': response({
    body: view(page('gr\u00fcn <a href="/b">b</a>'), 'latin1'),
    contentType: 'text/html; charset=iso-8859-1',
  }),
  'a page with elements from its headers': response({
    body: view(page('')),
    headElements: '<link rel="stylesheet" href="/s.css">',
  }),
  'a page with an import map': response({
    body: view(page('<script type="importmap">{"imports":{"x/":"/modules/x/"}}</script>')),
  }),
  'a stylesheet': response({ body: view('a { background: url(b.png) }'), contentType: 'text/css' }),
  'an image': response({ body: view('not text'), contentType: 'image/png' }),
};

function response(given: Pick<ResponseToParse, 'body'> & Partial<ResponseToParse>): ResponseToParse {
  const url = 'https://docs.example.com/a';
  const rest = {
    contentType: 'text/html',
    headElements: undefined,
    nofollow: false,
    attachment: false,
    rendered: false,
  };
  return { url, site: SITE, ...rest, ...given };
}

describe('a child process', () => {
  it.each(Object.entries(RESPONSES))('parses %s like this one', async (_name, given) => {
    const expected = parseResponse(given);
    const { extraction, bytes, ...parsed } = await apart.parseResponse(given);

    expect(parsed).toEqual({ ...expected, extraction: undefined, bytes: undefined });
    expect(Buffer.from(extraction)).toEqual(Buffer.from(expected.extraction));
    expect(bytes && Buffer.from(bytes)).toEqual(expected.bytes && Buffer.from(expected.bytes));
  });

  it('makes the same piece of the archive as this one', async () => {
    const input = await pieceInput();
    const expected = await makePiece(input);
    const made = await apart.makePiece(input);

    expect(Buffer.from(made.bytes)).toEqual(Buffer.from(expected.bytes));
    expect(made.files).toEqual(expected.files);
    expect(made.broken).toEqual([{ url: 'https://docs.example.com/gone', referrer: 'https://docs.example.com/a' }]);
    expect(made.failures).toEqual([]);
  });

  it('reads the imports of a module and the pages of a sitemap', async () => {
    const module = { bytes: view('import "a"; import("./b.js")'), contentType: 'text/javascript', url: SITE.origin };
    expect(await apart.moduleImports(module)).toEqual(['a', './b.js']);
    const sitemap = view(`<urlset><url><loc>${SITE.origin}/a</loc></url></urlset>`);
    expect(await apart.readSitemap(sitemap)).toEqual({ pages: [`${SITE.origin}/a`], sitemaps: [] });
  });
});

describe('a document', () => {
  const program = new URL('./deadly-process.ts', import.meta.url);
  const folder = temporaryFolder();
  const deadly = createComputing({ processes: 1, program }).apart;
  const text = (content: string, name = 'a') =>
    response({ body: Buffer.from(page(`${content}<a href="/b">b</a>`)), url: `${SITE.origin}/${name}` });

  it('that ends its process is unread; those beside it are read', async () => {
    const documents = ['one', 'please-abort', 'two', 'please-abort', 'three'].map((content) => text(content));
    const read = await Promise.all(documents.map(deadly.parseResponse));
    expect(read.map(({ failure }) => failure)).toEqual([undefined, DIED, undefined, DIED, undefined]);
    expect(read.map(({ resources }) => resources.length)).toEqual([1, 0, 1, 0, 1]);
    const [, dead] = read;
    expect(dead).toMatchObject({ format: 'html', contentType: 'text/html', bytes: undefined });
    expect(dead?.sha256).toBe(hash('sha256', documents[1]?.body ?? ''));
  });

  it('is read although the system kills its process several times', async () => {
    const counter = join(folder, 'kills');
    const kill = `please-kill ${counter};`;
    const read = await Promise.all(['one', kill, 'two'].map((content) => deadly.parseResponse(text(content))));
    expect(read.map(({ failure, resources }) => [failure, resources.length])).toEqual(Array(3).fill([undefined, 1]));
    expect((await readFile(counter)).length).toBe(4);
  });

  it('that takes too long is unread', async () => {
    const impatient = createComputing({ processes: 1, program, patienceMs: 1_000 }).apart;
    const read = await Promise.all(['one', 'please-hang'].map((content) => impatient.parseResponse(text(content))));
    expect(read.map(({ failure }) => failure)).toEqual([undefined, 'its process ended: no result within 4 s']);
  });

  it('that ends the process that rewrites it is archived as it is, with all others of its piece', async () => {
    const input = await pieceInput();
    const [file] = input.files;
    if (file === undefined) throw new Error('the piece has no file');
    const { extraction } = parseResponse(text('<a href="/please-abort">'));
    const files = [file, { ...file, url: `${file.url}2`, path: 'b.html', extraction }];
    const made = await deadly.makePiece({ ...input, files, siblings: { ...input.siblings, codings: [] } });
    expect(made.failures).toEqual([{ url: `${file.url}2`, reason: DIED }]);
    expect(made.files.map(({ path }) => path)).toEqual(['a.html', 'b.html']);
  });

  it('is read by a process that already waits, also after another ended it', async () => {
    const started = () => process.getActiveResourcesInfo().filter((name) => name === 'ProcessWrap').length;
    const before = started();
    const kept = createComputing({ keepsOne: true, processes: 1, program }).apart;
    expect(started()).toBe(before + 1);
    await expect(kept.parseResponse(text('one'))).resolves.toMatchObject({ failure: undefined });
    await expect(kept.parseResponse(text('please-abort'))).resolves.toMatchObject({ failure: DIED });
    await expect(kept.parseResponse(text('two'))).resolves.toMatchObject({ failure: undefined });
  });

  it('that can not be read for lack of processes fails, and is not called unread', async () => {
    const missing = createComputing({ processes: 1, program: new URL('./nothing.ts', import.meta.url) }).apart;
    await expect(missing.parseResponse(text('one'))).rejects.toThrow('can not be started');
  });
});

async function pieceInput(): Promise<PieceInput> {
  const body = view(page('<a href="/b">b</a><a href="/gone">gone</a><a href="https://other.example/">c</a>'));
  const { extraction } = parseResponse(response({ body }));
  const url = 'https://docs.example.com/a';
  return {
    files: [{ url, path: 'a.html', contentType: 'text/html', isPage: true, bytes: body, extraction }],
    targets: new Map([
      ['https://docs.example.com/b', { path: 'b/index.html' }],
      ['https://docs.example.com/gone', { missing: true }],
    ]),
    site: SITE,
    policy: { scripts: 'auto', external: 'bundle', sourceMaps: 'omit' },
    siblings: { codings: ['br', 'gzip'], taken: new Set() },
    gzipLevel: 5,
  };
}
