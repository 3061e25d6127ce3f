import { execFile } from 'node:child_process';
import { cp, readdir, readFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { encodePath } from '../../bundle/url.ts';
import { buildSite } from '../exporter/sites/build-site.ts';
import { locateRealTool } from '../helpers/real-tool.ts';
import { type Fixture, openFixture } from './fixture.ts';

const run = promisify(execFile);

let fixture: Fixture;
beforeEach(async () => {
  fixture = await openFixture();
});
afterEach(() => fixture.close());

async function buildHugo(folder: string): Promise<string> {
  await cp(join(process.cwd(), 'test/fixtures/hugo-site'), folder, { recursive: true });
  await run(await locateRealTool('hugo'), ['--source', folder, '--destination', join(folder, 'public'), '--quiet']);
  return join(folder, 'public');
}

/** Each is packed in another way: under a top folder, with `./` names, and in both formats for long names. */
it.each([
  ['next', 'gnu', 'folder', () => buildSite(join(fixture.folder, 'work'), 'next')],
  ['vitepress', 'pax', 'dot', () => buildSite(join(fixture.folder, 'work'), 'vitepress')],
  ['docusaurus', 'gnu', 'dot', () => buildSite(join(fixture.folder, 'work'), 'docusaurus')],
  ['hugo', 'pax', 'folder', () => buildHugo(join(fixture.folder, 'work'))],
] as const)(
  'a site of %s is served from its archive (%s, %s): every file is equal',
  async (name, format, top, build) => {
    const built = await build();
    const archive = join(fixture.folder, 'site.tar.gz');
    const what = top === 'dot' ? ['-C', built, '.'] : ['-C', dirname(built), basename(built)];
    await run('tar', ['-czf', archive, `--format=${format}`, ...what]);
    await fixture.writeValues({ enabled: true, bundleUrl: pathToFileURL(archive).href });
    const running = await fixture.start();
    const { jobId, lastError } = await running.until('served', ({ state, stale, lastError: error }) => {
      return error !== null || (state === 'serving' && !stale);
    });
    expect({ jobId, lastError }).toEqual({ jobId: null, lastError: null });

    const entries = await readdir(built, { recursive: true, withFileTypes: true });
    const files = entries.filter((entry) => entry.isFile()).map(({ parentPath, name: file }) => join(parentPath, file));
    const paths = files
      .map((file) => file.slice(built.length + 1))
      .filter((path) => !/^_(?:redirects|headers)$/.test(path));
    expect(paths.length).toBeGreaterThan(5);
    const wrong: string[] = [];
    const compare = async (url: string, path: string, status = 200): Promise<void> => {
      const response = await fetch(running.url + url, { redirect: 'manual' });
      const same = Buffer.from(await response.arrayBuffer()).equals(await readFile(join(built, path)));
      if (!same || response.status !== status) wrong.push(`${url} ${response.status}`);
    };
    for (const path of paths) {
      await compare(`/${encodePath(path)}`, path);
      // As static hosts find pages without their names' ends.
      if (/(?:^|\/)index\.html$/.test(path)) await compare(`/${encodePath(path.slice(0, -'index.html'.length))}`, path);
      else if (path.endsWith('.html')) await compare(`/${encodePath(path.slice(0, -'.html'.length))}`, path);
    }
    await compare('/nowhere/at/all', '404.html', 404);
    expect(wrong).toEqual([]);
    const script = paths.find((path) => path.endsWith('.js'));
    if (name !== 'hugo') {
      const { headers } = await fetch(`${running.url}/${encodePath(script ?? 'none')}`);
      expect(headers.get('content-type')).toBe('text/javascript; charset=utf-8');
      return;
    }
    const moved = await fetch(`${running.url}/guide/start/?a=1`, { redirect: 'manual' });
    expect([moved.status, moved.headers.get('location')]).toEqual([301, '/guides/start/?a=1']);
    expect((await fetch(running.url)).headers.get('x-made-by')).toBe('Hugo');
  },
);
