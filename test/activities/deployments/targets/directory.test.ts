import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { createDirectoryTarget } from '../../../../activities/deployments/targets/directory.ts';
import { type BundleSpec, buildBundle, entriesOf, packTar } from '../../../deployment/bundles.ts';
import { emptiedFolder } from '../../../helpers/temporary-folder.ts';
import { describeTarget, faultsOfBundles, sizeOf } from './contract.ts';
import { deployToFolder } from './deploy-to-folder.ts';

const root = emptiedFolder();

async function filesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return files
    .map((file) => file.slice(folder.length + 1))
    .filter((file) => file !== '_headers')
    .sort();
}

describeTarget('directory', async (bundles) => ({
  target: createDirectoryTarget(root),
  async version() {
    const page = await readFile(join(root, 'index.html'), 'utf8').catch(() => '');
    return /<title>home (.*)<\/title>/.exec(page)?.[1] ?? null;
  },
  async fingerprint() {
    const files = (await filesIn(root)).filter((file) => !file.startsWith('.galley'));
    const stats = await Promise.all(files.map((file) => stat(join(root, file))));
    return createHash('sha256')
      .update(JSON.stringify(stats.map(({ mtimeMs, ino }, index) => [files[index], mtimeMs, ino])))
      .digest('hex');
  },
  stagedBytes: () => sizeOf(join(root, '.galley', 'staging')),
  ...faultsOfBundles(bundles),
}));

/** Deploys a bundle as the next version. */
async function deploy(spec: BundleSpec | Buffer, sequence: number): Promise<void> {
  await deployToFolder(root, Buffer.isBuffer(spec) ? spec : await buildBundle(spec), sequence);
}

describe('a folder with a site', () => {
  it('keeps what it has, writes what changed, and deletes files one version after the pages that need them', async () => {
    await mkdir(join(root, 'guides'));
    await writeFile(join(root, 'guides', 'own.txt'), 'of the operator');
    const same = { 'index.html': 'home', 'same.css': 'same' };
    await deploy({ files: { ...same, 'a-1.css': '1', 'guides/start.html': 'start', 'gone/page.html': 'gone' } }, 1);
    const before = await stat(join(root, 'same.css'));
    await deploy({ files: { ...same, 'a-2.css': '2', 'guides/start.html': 'start 2' } }, 2);
    expect(await filesIn(root)).toEqual([
      ...['.galley/deployed.json', 'a-1.css', 'a-2.css', 'guides/own.txt', 'guides/start.html'],
      ...['index.html', 'same.css'],
    ]);
    expect(await readdir(root)).not.toContain('gone');
    expect((await stat(join(root, 'same.css'))).ino).toBe(before.ino);
    await deploy({ files: same }, 3);
    await deploy({ files: same }, 4);
    expect(await filesIn(root)).toEqual(['.galley/deployed.json', 'guides/own.txt', 'index.html', 'same.css']);
  });

  it('has redirects for Netlify, for nginx and as pages, unless the bundle has a page there', async () => {
    const redirects = [
      { from: '/old', to: '/guides/start', status: 301 },
      { from: '/old/deep/', to: 'https://elsewhere.test/?a=1&b="2"', status: 302 },
      { from: '/taken', to: '/', status: 301 },
      { from: '/feed.xml', to: '/atom.xml', status: 301 },
      { from: '/../escape', to: '/', status: 301 },
      { from: '/cost$', to: '/', status: 301 },
    ];
    await deploy({ files: { 'guides/start.html': 'start', 'taken.html': 'taken' }, redirects }, 1);
    expect(await filesIn(root)).toEqual([
      ...['.galley/deployed.json', '.galley/redirects.map', '_redirects', 'cost$.html', 'guides/start.html'],
      ...['old.html', 'old/deep/index.html', 'taken.html'],
    ]);
    const read = (path: string) => readFile(join(root, path), 'utf8');
    expect((await read('_redirects')).split('\n')).toContain('/old /guides/start 301');
    expect(await read('.galley/redirects.map')).toContain('"/old" "/guides/start";\n');
    expect(await read('.galley/redirects.map')).not.toContain('cost');
    expect(await read('old.html')).toContain('content="0; url=guides/start.html"');
    expect(await read('old/deep/index.html')).toContain('url=https://elsewhere.test/?a=1&amp;b=&quot;2&quot;"');
    expect(await read('taken.html')).toBe('taken');
  });

  it('has the files of URLs that a static host would not find, for Netlify and nginx', async () => {
    const urls = {
      'feed/index.xml': '/feed/',
      'LICENSE.txt': '/LICENSE',
      'avatar/42.png': '/avatar/42',
      'pkg/@scope%2Fname.tgz': '/pkg/@scope%2Fname.tgz',
      'guides/start.html': '/guides/start',
      'v1.2.html': '/v1.2',
      'list.85955a110eb9.html': '/list?page=2',
    };
    const files = Object.fromEntries(Object.keys(urls).map((path) => [path, path]));
    const redirects = [
      { from: '/oldfeed', to: '/feed/', status: 301 },
      { from: '/%D1%81', to: '/guides/start', status: 301 },
    ];
    await deploy({ files, urls, redirects }, 1);
    const read = (path: string) => readFile(join(root, path), 'utf8');
    expect((await read('_redirects')).split('\n')).toEqual([
      '/oldfeed /feed/ 301',
      '/%D1%81 /guides/start 301',
      '/LICENSE /LICENSE.txt 200',
      '/avatar/42 /avatar/42.png 200',
      '/feed/ /feed/index.xml 200',
      '/pkg/@scope%2Fname.tgz /pkg/%40scope%252Fname.tgz 200',
      '/v1.2 /v1.2.html 200',
      '',
    ]);
    expect((await read('.galley/files.conf')).split('\n')).toEqual([
      '"~^/LICENSE$" "/LICENSE.txt";',
      '"/avatar/42" "/avatar/42.png";',
      '"/feed/" "/feed/index.xml";',
      '"/list?page=2" "/list.85955a110eb9.html";',
      '"/pkg/@scope/name.tgz" "/pkg/@scope%2Fname.tgz";',
      '"/v1.2" "/v1.2.html";',
      '',
    ]);
    expect(await read('.galley/redirects.map')).toBe('"/oldfeed" "/feed/";\n"/с" "/guides/start";\n');
    expect(await read('oldfeed.html')).toContain('content="0; url=feed/index.xml"');
  });

  it('has headers for Netlify and Cloudflare Pages: a long cache for what has a hash only', async () => {
    const hashed = ['_app/a-0f1e2d3c.js', '_app/deep/b-0f1e2d3c.css', 'img/logo-3f2a91bc.svg', 'img/x:y-3f2a91bc.svg'];
    const plain = ['index.html', 'img/photo.png'];
    await deploy({ files: Object.fromEntries([...hashed, ...plain].map((path) => [path, path])) }, 1);
    const [all, ...rules] = (await readFile(join(root, '_headers'), 'utf8')).split(/\n(?=\/)/);
    expect(all).toMatch(/^\/\*\n {2}X-Content-Type-Options: nosniff\n/);
    const forever = '  Cache-Control: max-age=604800, immutable';
    expect(rules.map((rule) => rule.trimEnd())).toEqual([`/_app/*\n${forever}`, `/img/logo-3f2a91bc.svg\n${forever}`]);
    await deploy({ files: { 'index.html': 'home', _headers: '/*\n  X-Own: 1\n' } }, 2);
    expect(await readFile(join(root, '_headers'), 'utf8')).toContain('X-Own');
  });

  it('restores a file that someone deleted', async () => {
    await deploy({ files: { 'index.html': 'home', 'a.css': 'a' } }, 1);
    await rm(join(root, 'a.css'));
    await deploy({ files: { 'index.html': 'home', 'a.css': 'a' } }, 2);
    expect(await filesIn(root)).toEqual(['.galley/deployed.json', 'a.css', 'index.html']);
  });

  it('takes the name of a file for a folder, and of a folder for a file, and later versions succeed', async () => {
    const asFile = { 'index.html': 'home', docs: 'a file', 'guide.html': 'a page' };
    const asFolder = { 'index.html': 'home', 'docs/a/b.html': 'b', 'docs/c.css': 'c', 'guide.html/x.html': 'x' };
    let sequence = 0;
    for (const files of [asFile, asFolder, asFolder, asFile, asFile, asFolder]) {
      await deploy({ files }, ++sequence);
      expect(await filesIn(root)).toEqual(['.galley/deployed.json', ...Object.keys(files)].sort());
    }
  });

  it('recovers from a write that died with a name as a file in the state and as a folder on the disk', async () => {
    await deploy({ files: { docs: 'a file', 'guide/a.html': 'a' } }, 1);
    const state = JSON.parse(await readFile(join(root, '.galley', 'deployed.json'), 'utf8'));
    state.complete = false;
    state.retired = ['docs/old.css', 'guide'];
    await writeFile(join(root, '.galley', 'deployed.json'), JSON.stringify(state));
    await deploy({ files: { docs: 'a file', 'guide/a.html': 'a' } }, 2);
    expect(await filesIn(root)).toEqual(['.galley/deployed.json', 'docs', 'guide/a.html']);
  });

  it.each([
    ['leaves the folder', entriesOf({ files: { '../escaped.html': 'x' } })],
    ['replaces its state', entriesOf({ files: { '.galley/deployed.json': '{}' } })],
    [
      'is a link',
      [...entriesOf({ files: {} }), { header: { name: 'a', type: 'symlink' as const }, content: Buffer.of() }],
    ],
    [
      'differs from its manifest',
      [
        ...entriesOf({ files: { 'index.html': 'y' } }).slice(0, 1),
        ...entriesOf({ files: { 'index.html': 'x' } }).slice(1),
      ],
    ],
    ['is missing', entriesOf({ files: { 'index.html': 'y' } }).slice(0, 1)],
  ])('gets nothing of an archive with a file that %s', async (_, entries) => {
    await deploy({ files: { 'index.html': 'home' } }, 1);
    const bundle = gzipSync(await packTar(entries));
    await expect(deploy(bundle, 2)).rejects.toThrow('no valid bundle');
    await expect(deploy(bundle.subarray(0, -20), 3)).rejects.toThrow('no valid bundle');
    await expect(deploy(Buffer.from('<html>'), 4)).rejects.toThrow('no valid bundle');
    expect(await readFile(join(root, 'index.html'), 'utf8')).toBe('home');
    expect(await filesIn(root)).toEqual(['.galley/deployed.json', 'index.html']);
  });
});
