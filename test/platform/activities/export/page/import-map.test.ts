import { referencesOf, rewritten } from './engine.ts';

const page = (map: object, script = '') => ({
  text: `<script type="importmap">${JSON.stringify(map)}</script><script type="module">${script}</script>`,
});
const mapOf = (html: string) => JSON.parse(/importmap">(.*?)<\/script>/.exec(html)?.[1] ?? '');

describe('an import map', () => {
  it('leads to files of the bundle, by name, by address and by folder', () => {
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

  it('has its scopes, which are addresses too', () => {
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

  it('guards no files by hashes of what they were', () => {
    const sample = page({
      imports: { vue: '/vue.js' },
      integrity: { '/vue.js': 'sha384-x', 'https://c.org/y.js': 'sha384-y' },
    });
    expect(mapOf(rewritten(sample))).toEqual({
      imports: { vue: '../vue.js' },
      integrity: { '../vue.js': '', '../_external/c.org/y.js': '' },
    });
  });

  it('resolves what inline modules import from its folders', () => {
    const map = { imports: { 'lib/': '/lib/', 'lib/deep/': 'https://c.org/deep/', vue: '/vue.js' } };
    const sample = page(map, 'import "lib/a.js"; import("lib/deep/b.js"); import "vue"; import "other/c.js"');
    expect(referencesOf(sample).slice(-2)).toEqual(['asset /lib/a.js', 'asset https://c.org/deep/b.js']);
    expect(rewritten(sample)).toContain(
      'import "../lib/a.js"; import("../_external/c.org/deep/b.js"); import "vue"; import "other/c.js"',
    );
  });
});
