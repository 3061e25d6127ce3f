import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { buildBundle, manifestOf, siteOf } from '../bundles.ts';
import { type Fixture, openFixture, type Running } from '../fixture.ts';

const MARKDOWN = `# Start\n\n${'Some text. '.repeat(200)}\n`;
const spec = {
  ...siteOf('1', { 'guides/start.md': MARKDOWN, 'guides/plain.html': '<p>Plain', 'guides/plain.md': '# Plain\n' }),
  contentTypes: { 'guides/start.md': 'text/markdown; charset=utf-8', 'guides/plain.md': 'text/plain' },
  twins: { 'guides/start.html': 'guides/start.md', 'guides/plain.html': 'guides/plain.md' },
};
const etagOf = (path: string): string => `"${manifestOf(spec).files.find((file) => file.path === path)?.sha256}"`;

let fixture: Fixture;
let running: Running;
beforeAll(async () => {
  fixture = await openFixture();
  const archive = join(fixture.folder, 'bundle.tar.gz');
  await writeFile(archive, await buildBundle(spec));
  await fixture.writeValues({ enabled: true, bundleUrl: pathToFileURL(archive).href });
  running = await fixture.start();
  await running.until('serving', ({ version }) => version === '1');
});
afterAll(() => fixture.close());

function get(path: string, headers: Record<string, string>, method = 'GET'): Promise<Response> {
  return fetch(running.url + path, {
    method,
    headers: { 'accept-encoding': 'identity', 'cache-control': 'max-age=0', ...headers },
  });
}

describe('a page with a twin in Markdown', () => {
  it.each([
    ['text/markdown', true],
    ['text/markdown, text/html', true],
    ['text/markdown, text/html, */*', true],
    ['text/html;q=0.8, text/markdown;q=0.9', true],
    ['text/*, text/html;q=0.5', true],
    ['text/html, text/markdown', false],
    ['text/html, text/markdown;q=0.9', false],
    ['text/markdown;q=0, */*', false],
    ['text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', false],
    ['*/*', false],
    ['application/json', false],
  ])('with Accept: %s is sent as Markdown: %s', async (accept, isMarkdown) => {
    const response = await get('/guides/start', { accept });
    expect([response.status, response.headers.get('content-type'), response.headers.get('etag')]).toEqual([
      200,
      isMarkdown ? 'text/markdown; charset=utf-8' : 'text/html; charset=utf-8',
      etagOf(isMarkdown ? 'guides/start.md' : 'guides/start.html'),
    ]);
    expect((await response.text()) === MARKDOWN).toBe(isMarkdown);
    expect(response.headers.get('vary')).toMatch(/^Accept\b/);
  });

  it('has ranges, conditions, HEAD and compression of the twin', async () => {
    const accept = 'text/markdown';
    const part = await get('/guides/start', { accept, range: 'bytes=2-6' });
    expect([part.status, await part.text()]).toEqual([206, 'Start']);
    const fresh = await get('/guides/start', { accept, 'if-none-match': etagOf('guides/start.md') });
    expect([fresh.status, fresh.headers.get('vary')]).toEqual([304, 'Accept, Accept-Encoding']);
    expect((await get('/guides/start', { accept, 'if-none-match': etagOf('guides/start.html') })).status).toBe(200);
    const head = await get('/guides/start', { accept }, 'HEAD');
    expect([head.headers.get('content-length'), await head.text()]).toEqual([String(MARKDOWN.length), '']);
    const packed = await get('/guides/start', { accept, 'accept-encoding': 'gzip' });
    expect([packed.headers.get('content-encoding'), await packed.text()]).toEqual(['gzip', MARKDOWN]);
  });

  it('has the type of Markdown only if the page was asked for', async () => {
    const twin = await get('/guides/plain', { accept: 'text/markdown' });
    expect([twin.headers.get('content-type'), await twin.text()]).toEqual([
      'text/markdown; charset=utf-8',
      '# Plain\n',
    ]);
    const itself = await get('/guides/plain.md', { accept: 'text/markdown' });
    expect([itself.headers.get('content-type'), itself.headers.get('vary')]).toEqual(['text/plain', null]);
  });

  it('does not change how other pages are sent', async () => {
    const home = await get('/', { accept: 'text/markdown' });
    expect([home.headers.get('content-type'), home.headers.get('vary')]).toEqual(['text/html; charset=utf-8', null]);
  });
});
