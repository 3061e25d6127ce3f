import { importSpecifiers } from '../../../exporter/document/javascript/extract-script.ts';
import { addModuleImports } from '../../../exporter/document/javascript/import-map.ts';
import { extractFrom, referencesOf, rewritten, SITE } from './engine.ts';

const page = (map: object, script = '') => ({
  text: `<script type="importmap">${JSON.stringify(map)}</script><script type="module">${script}</script>`,
});
const mapOf = (html: string) => JSON.parse(/importmap">(.*?)<\/script>/.exec(html)?.[1] ?? '');

describe('an import map', () => {
  it('maps names, URLs and folders to files of the bundle', () => {
    const sample = page({
      imports: { vue: '/vue.js', '/old.js': '/new.js', 'lib/': '/lib/', cdn: 'https://c.org/x.js', off: null },
    });
    expect(referencesOf(sample)).toEqual([
      'asset /vue.js',
      'asset /old.js',
      'asset /new.js',
      'folder /lib/',
      'asset https://c.org/x.js',
    ]);
    expect(mapOf(rewritten(sample))).toEqual({
      imports: {
        vue: '../vue.js',
        '../old.js': '../new.js',
        'lib/': '../lib/',
        cdn: '../_external/c.org/x.js',
        off: null,
      },
    });
  });

  it('gets rewritten scopes', () => {
    const sample = page({
      imports: {},
      scopes: { '/vendor/': { dep: '/vendor/dep.js' }, '/guides/': { dep: './dep.js' } },
    });
    expect(referencesOf(sample)).toEqual([
      'folder /vendor/',
      'asset /vendor/dep.js',
      'folder /guides/',
      'asset /guides/dep.js',
    ]);
    expect(mapOf(rewritten(sample))).toEqual({
      imports: {},
      scopes: { '../vendor/': { dep: '../vendor/dep.js' }, './': { dep: './dep.js' } },
    });
  });

  it('loses the integrity hashes, because files may be rewritten', () => {
    const sample = page({
      imports: { vue: '/vue.js' },
      integrity: { '/vue.js': 'sha384-x', 'https://c.org/y.js': 'sha384-y' },
    });
    expect(mapOf(rewritten(sample))).toEqual({
      imports: { vue: '../vue.js' },
      integrity: { '../vue.js': '', '../_external/c.org/y.js': '' },
    });
  });

  it('resolves imports of inline modules from its folders', () => {
    const map = { imports: { 'lib/': '/lib/', 'lib/deep/': 'https://c.org/deep/', vue: '/vue.js' } };
    const sample = page(map, 'import "lib/a.js"; import("lib/deep/b.js"); import "vue"; import "other/c.js"');
    expect(referencesOf(sample).slice(-2)).toEqual(['asset /lib/a.js', 'asset https://c.org/deep/b.js']);
    expect(rewritten(sample)).toContain(
      'import "../lib/a.js"; import("../_external/c.org/deep/b.js"); import "vue"; import "other/c.js"',
    );
  });

  describe('with modules in files', () => {
    /** The page `/guides/start` with an import map and the module `/app.js`. `modules`: content by URL. */
    async function withModules(map: object, modules: Record<string, string>) {
      const text = `<script type="importmap">${JSON.stringify(map)}</script><script type="module" src="/app.js"></script>`;
      const site = `https://${SITE.domain}`;
      const importsOf = async (url: string) =>
        importSpecifiers(Buffer.from(modules[url.replace(site, '')] ?? '').toString('latin1'));
      const extraction = await addModuleImports(extractFrom({ text }), { site: SITE, importsOf });
      const assets = extraction.resources.filter(({ kind }) => kind === 'asset');
      return { assets: assets.map(({ url }) => url.replace(site, '')), map: mapOf(rewritten({ text, extraction })) };
    }

    it('gets an entry for each file that they import from its folders, directly or through other modules', async () => {
      const page = await withModules(
        { imports: { three: 'https://c.org/three.js', 'three/addons/': 'https://c.org/jsm/', 'lib/': '/lib/' } },
        {
          '/app.js': 'import "three"; import "three/addons/a.js"; import("./more.js"); import "unknown/x.js"',
          '/more.js': 'export * from "lib/b.js"; import "lib/../c.js"',
          'https://c.org/jsm/a.js': 'import "three/addons/deep/d.js"',
        },
      );
      expect(page.assets).toEqual([
        'https://c.org/three.js',
        '/app.js',
        'https://c.org/jsm/a.js',
        'https://c.org/jsm/deep/d.js',
        '/lib/b.js',
      ]);
      expect(page.map).toEqual({
        imports: {
          three: '../_external/c.org/three.js',
          'three/addons/a.js': '../_external/c.org/jsm/a.js',
          'three/addons/deep/d.js': '../_external/c.org/jsm/deep/d.js',
          'three/addons/': 'https://c.org/jsm/',
          'lib/b.js': '../lib/b.js',
          'lib/': '../lib/',
        },
      });
    });

    it('applies scopes, the longest prefix and exact entries as browsers do', async () => {
      const page = await withModules(
        {
          imports: { 'lib/': '/lib/', 'lib/deep/': '/deep/', 'lib/own.js': '/own.js' },
          scopes: { '/vendor/': { 'lib/': '/vendor/lib/' } },
        },
        {
          '/app.js': 'import "lib/a.js"; import "lib/deep/b.js"; import "lib/own.js"; import "/vendor/v.js"',
          '/vendor/v.js': 'import "lib/a.js"',
        },
      );
      expect(page.map).toEqual({
        imports: {
          'lib/a.js': '../lib/a.js',
          'lib/': '../lib/',
          'lib/deep/b.js': '../deep/b.js',
          'lib/deep/': '../deep/',
          'lib/own.js': '../own.js',
        },
        scopes: { '../vendor/': { 'lib/a.js': '../vendor/lib/a.js', 'lib/': '../vendor/lib/' } },
      });
    });

    it('is not closed by a specifier that contains </script>', async () => {
      const page = await withModules({ imports: { 'lib/': '/lib/' } }, { '/app.js': 'import "lib/é</script>.js"' });
      expect(page.map.imports).toMatchObject({ 'lib/é</script>.js': expect.stringContaining('../lib/%C3%A9') });
    });
  });
});
