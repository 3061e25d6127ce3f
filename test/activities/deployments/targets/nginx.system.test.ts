import { startNginx } from '../../../../bench/export/nginx-site.ts';
import { SECURITY_HEADERS } from '../../../../contract/response-headers.ts';
import { buildBundle } from '../../../deployment/bundles.ts';
import { createCleanups } from '../../../helpers/system/cleanups.ts';
import { waitFor } from '../../../helpers/system/wait-for.ts';
import { emptiedFolder } from '../../../helpers/temporary-folder.ts';
import { deployToFolder, documentedServer } from './deploy-to-folder.ts';

const securityHeaders = Object.fromEntries(
  Object.entries(SECURITY_HEADERS).map(([name, value]) => [name.toLowerCase(), value]),
);
const root = emptiedFolder();
const cleanups = createCleanups();
afterEach(() => cleanups.run());

const files = {
  '404.html': 'not found',
  'index.html': 'home',
  'guides/index.html': 'guides',
  'guides/start.html': 'start',
  'topics.html': 'topics',
  'topics/first.html': 'first topic',
  'README.html': 'readme',
  'robots.txt': 'robots',
  'feed/index.xml': 'feed',
  'download.pdf': 'pdf',
  'LICENSE.txt': 'license',
  'license.html': 'page of the license',
  'avatar/42.png': 'avatar',
  'pkg/@scope%2Fname.html': 'package',
  'img/caf%E9.png': 'coffee',
  'list.85955a110eb9.html': 'list, page 2',
};
const urls = {
  'feed/index.xml': '/feed/',
  'download.pdf': '/download',
  'LICENSE.txt': '/LICENSE',
  'avatar/42.png': '/avatar/42',
  'pkg/@scope%2Fname.html': '/pkg/@scope%2Fname',
  'img/caf%E9.png': '/img/caf%E9.png',
  'list.85955a110eb9.html': '/list?page=2',
};
const long = `/${'long-'.repeat(150)}`;
const redirects = [
  { from: '/old', to: '/guides/start', status: 301 },
  { from: long, to: '/guides/', status: 301 },
  { from: '/away/', to: 'https://elsewhere.test/?a=1&b=2', status: 302 },
  { from: '/search?q=a.b', to: '/topics', status: 302 },
  // Each differs only in case from another one, from a page or from its own target.
  { from: '/Guide', to: '/guides/', status: 301 },
  { from: '/guide', to: '/topics', status: 301 },
  { from: '/readme', to: '/README', status: 301 },
  { from: '/Topics', to: '/topics', status: 301 },
  { from: '/A+(b)[c].*', to: '/', status: 301 },
  { from: '/%D1%81', to: '/guides/', status: 301 },
  { from: '/caf%E9', to: '/guides/', status: 301 },
  { from: '/oldfeed', to: '/feed/', status: 301 },
];

it('nginx serves the folder with the configuration in the guide, and follows its redirects after a reload', async () => {
  await deployToFolder(root, await buildBundle({ files, urls }), 1);
  const { origin, readConfiguration } = await startNginx({
    folder: root,
    lifetime: cleanups,
    serverOn: (port) => documentedServer(root, port),
  });

  async function get(path: string): Promise<[number, string]> {
    const response = await fetch(origin + path, { redirect: 'manual' });
    const text = await response.text();
    return [response.status, response.headers.get('location') ?? text];
  }
  const pages: [string, [number, string]][] = [
    ['/', [200, 'home']],
    ['/guides/start', [200, 'start']],
    ['/guides/start.html', [200, 'start']],
    ['/guides', [301, '/guides/']],
    ['/guides/', [200, 'guides']],
    ['/topics', [200, 'topics']],
    ['/topics/first?from=mail', [200, 'first topic']],
    ['/topics/', [404, 'not found']],
    ['/README', [200, 'readme']],
    ['/robots.txt', [200, 'robots']],
    ['/guides/missing', [404, 'not found']],
    ['/.galley/deployed.json', [404, 'not found']],
    ['/_headers', [404, 'not found']],
  ];
  const got = async (paths: readonly (readonly [string, unknown])[]) =>
    await Promise.all(paths.map(async ([path]) => [path, await get(path)]));
  expect(await got([...pages, ['/old', []]])).toEqual([...pages, ['/old', [404, 'not found']]]);

  await deployToFolder(root, await buildBundle({ files, redirects, urls }), 2);
  // nginx has read no redirects yet.
  expect(await get('/old')).toEqual([200, expect.stringContaining('url=guides/start.html')]);
  await readConfiguration();
  await waitFor(async () => (await get('/old'))[0] === 301, { describe: 'read the redirects' });
  const moved = [
    ...redirects.map(({ from, to }) => [from, [301, to]] as const),
    ['/%d1%81', [301, '/guides/']] as const,
    ['/caf%e9', [301, '/guides/']] as const,
    ['/old?from=mail', [301, '/guides/start']] as const,
  ];
  expect(await got(moved)).toEqual(moved);
  const stored: [string, [number, string]][] = [
    ['/feed/', [200, 'feed']],
    ['/feed/?from=mail', [200, 'feed']],
    ['/feed/index.xml', [200, 'feed']],
    ['/download', [200, 'pdf']],
    ['/LICENSE', [200, 'license']],
    ['/license', [200, 'page of the license']],
    ['/avatar/42', [200, 'avatar']],
    ['/pkg/@scope%2Fname', [200, 'package']],
    ['/pkg/%40scope%2fname', [200, 'package']],
    ['/img/caf%E9.png', [200, 'coffee']],
    ['/list?page=2', [200, 'list, page 2']],
    ['/list', [404, 'not found']],
  ];
  expect(await got(stored)).toEqual(stored);
  expect(await got(pages)).toEqual(pages);

  for (const path of ['/', '/robots.txt', '/guides/missing']) {
    const { headers } = await fetch(origin + path);
    expect([path, Object.fromEntries(headers)]).toMatchObject([path, securityHeaders]);
    expect([path, headers.get('cache-control')]).toEqual([path, 'no-cache']);
  }
  const { headers } = await fetch(`${origin}/`);
  const again = await fetch(`${origin}/`, { headers: { 'if-none-match': headers.get('etag') ?? '' } });
  expect(again.status).toBe(304);
});
