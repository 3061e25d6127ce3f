import type { PieceInput } from '../../../exporter/assemble/make-piece.ts';
import type { ResponseToParse } from '../../../exporter/crawl/read-response.ts';
import { createComputing } from '../../../exporter/threads/computing.ts';

const SITE = { domain: 'docs.example.com', origin: 'https://docs.example.com' };

const own = createComputing({ threads: 0 });
const pool = createComputing({ threads: 2, firstTasks: 0 });

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
  return { url, contentType: 'text/html', headElements: undefined, nofollow: false, rendered: false, ...given };
}

describe('a thread of the pool', () => {
  it.each(Object.entries(RESPONSES))('parses %s like the main thread', async (_name, given) => {
    const expected = await own.parseResponse(given, SITE);
    const { extraction, bytes, ...parsed } = await pool.parseResponse(given, SITE);

    expect(parsed).toEqual({ ...expected, extraction: undefined, bytes: undefined });
    expect(Buffer.from(extraction)).toEqual(Buffer.from(expected.extraction));
    expect(bytes && Buffer.from(bytes)).toEqual(expected.bytes && Buffer.from(expected.bytes));
    expect(given.body.length).toBeGreaterThan(0);
  });

  it('makes the same piece of the archive as the main thread', async () => {
    const input = await pieceInput();
    const expected = await own.makePiece(input);
    const made = await pool.makePiece(input);

    expect(Buffer.from(made.bytes)).toEqual(Buffer.from(expected.bytes));
    expect(made.files).toEqual(expected.files);
    expect(made.broken).toEqual([{ url: 'https://docs.example.com/gone', referrer: 'https://docs.example.com/a' }]);
    expect(made.failures).toEqual([]);
  });
});

async function pieceInput(): Promise<PieceInput> {
  const body = view(page('<a href="/b">b</a><a href="/gone">gone</a><a href="https://other.example/">c</a>'));
  const { extraction } = await own.parseResponse(response({ body }), SITE);
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
