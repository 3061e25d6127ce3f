import { readdirSync, readFileSync } from 'node:fs';
import { request } from 'undici';
import { ASSETS_PATH, assetPath } from '../../ui/assets.ts';
import { Live } from '../../ui/components/live.tsx';
import { Text } from '../../ui/components/text.tsx';
import { formatBytes, formatCount, formatDuration, formatRelative } from '../../ui/format.ts';
import { renderPart } from '../../ui/page.tsx';
import { servePages } from '../helpers/serve-pages.ts';
import { ComponentPage } from './component-page.tsx';

const SCRIPT = `</title></textarea><script>alert(1)</script>"' onload=alert(1) x='`;
const HOSTILE = [SCRIPT, '\u202egnp.exe', 'x'.repeat(10_000), '\u0000\u001b[31m', '{{7*7}}'];

/** Every component, with the same text in all properties. */
const everything = (text: string) => <ComponentPage write={() => text} />;

describe('a page', () => {
  test.each(HOSTILE)('shows a hostile text as text: %j', (text) => {
    const html = renderPart(everything(text));
    const harmless = renderPart(everything('harmless'));
    const elements = (of: string) => [...of.matchAll(/<[a-z][a-z\d]*/gi)].map(([tag]) => tag);
    expect(elements(html)).toEqual(elements(harmless));
    expect(html).not.toContain('<script>alert');
  });

  it('has no inline script, style or handler', () => {
    const html = renderPart(everything('harmless'));
    expect(html).not.toMatch(/\sstyle=|<style|\son\w+=|<script(?![^>]*\ssrc=)/);
  });

  it('shows the code of characters that hide or reorder text', () => {
    expect(renderPart(<Text>{'\u202egnp.exe'}</Text>)).toBe('<bdi>⟨U+202E⟩gnp.exe</bdi>');
  });

  it('connects a live part to its events', () => {
    expect(
      renderPart(
        <Live id="state" url="/events">
          now
        </Live>,
      ),
    ).toBe('<div id="state" hx-swap="innerMorph" hx-sse:connect="/events">now</div>');
  });

  it('is under 100 kB with everything it loads', async () => {
    const { origin, stop } = await servePages({ page: () => everything('A title') });
    const load = async (path: string, encoding: string) => {
      const response = await request(`${origin}${path}`, { headers: { 'accept-encoding': encoding } });
      return { ...response, bytes: (await response.body.bytes()).length };
    };

    const page = await load('/page', 'identity');
    expect(page.headers['content-security-policy']).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
        "form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
    );
    const loaded = [...renderPart(everything('A title')).matchAll(/(?:src|href)="(\/ui\/[^"]+)"/g)].map(
      ([, path = '']) => path,
    );
    expect(loaded).toHaveLength(5);
    const assets = await Promise.all(loaded.map((path) => load(path, 'identity')));
    expect(page.bytes + assets.reduce((sum, { bytes }) => sum + bytes, 0)).toBeLessThan(100_000);
    for (const { statusCode, headers } of assets) {
      expect({ statusCode, cache: headers['cache-control'] }).toEqual({
        statusCode: 200,
        cache: 'max-age=31536000, immutable',
      });
    }
    for (const encoding of ['br', 'gzip']) {
      const compressed = await load(assetPath('htmx'), encoding);
      expect(compressed.headers['content-encoding']).toBe(encoding);
      expect(compressed.bytes).toBeLessThan(16_000);
    }
    expect((await load(`${ASSETS_PATH}/galley.000000000000.css`, 'br')).statusCode).toBe(404);
    stop();
  });
});

/** The texts of the files of a folder with that ending. */
function textsOf(folder: string, ending: RegExp): string[] {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return names.filter((name) => ending.test(name)).map((name) => readFileSync(`${folder}/${name}`, 'utf8'));
}

describe('the kit of the pages', () => {
  it('has no component that the page of all components does not show', () => {
    const exported = textsOf('ui/components', /\.tsx$/).flatMap((text) => [
      ...text.matchAll(/^export function (\w+)/gm),
    ]);
    const shown = textsOf('test/ui', /component-page\.tsx$/).join('') + textsOf('ui', /^page\.tsx$/).join('');
    expect(exported.length).toBeGreaterThan(20);
    expect(exported.map(([, name]) => name).filter((name) => !shown.includes(`<${name}`))).toEqual([]);
  });

  it('has no style that no page uses', () => {
    const [style = ''] = textsOf('ui/assets', /\.css$/);
    const lines = ['ui', 'api/pages', 'platform/dashboard', 'platform/api/forge']
      .flatMap((folder) => textsOf(folder, /\.(tsx|js)$/))
      .flatMap((text) => text.split('\n').filter((line) => /class(=|List)/.test(line)));
    const classes = new Set([...style.matchAll(/\.([a-z][\w-]*)/g)].map(([, name = '']) => name));
    const unused = [...classes].filter((name) => !lines.some((line) => new RegExp(`\\b${name}\\b`).test(line)));
    // Of diff2html's lines.
    expect(unused).toEqual(['d2h-ins', 'd2h-del']);
  });
});

describe('formats', () => {
  test.each([
    [0, '0 ms'],
    [4_240, '4.2 s'],
    [59_900, '59 s'],
    [185_000, '3 min 5 s'],
    [7_200_000, '2 h'],
    [100_000_000, '1 day 3 h'],
    [-5, '0 ms'],
  ])('a duration of %d ms is %s', (ms, text) => expect(formatDuration(ms)).toBe(text));

  const now = new Date('2026-11-21T10:00:00Z');
  test.each([
    ['2026-11-21T09:59:58Z', 'just now'],
    ['2026-11-21T10:00:02Z', 'in a moment'],
    ['2026-11-21T09:55:00Z', '5 min ago'],
    ['2026-11-21T13:00:00Z', 'in 3 h'],
    ['2026-11-18T10:00:00Z', '3 days ago'],
  ])('%s is %s', (at, text) => expect(formatRelative(new Date(at), now)).toBe(text));

  test.each([
    [12, '12 B'],
    [999_600, '1.0 MB'],
    [123_456_789, '123 MB'],
  ])('%d bytes are %s', (bytes, text) => expect(formatBytes(bytes)).toBe(text));

  it('a count with the singular or plural of its word', () => {
    expect([formatCount(1, 'page'), formatCount(1_204, 'page')]).toEqual(['1 page', '1,204 pages']);
  });
});
