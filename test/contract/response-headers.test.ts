import { cacheControl } from '../../contract/response-headers.ts';

describe('cacheControl', () => {
  it.each([
    'assets/app.DtHmvp7M.js',
    'assets/guides_start.md.BcA3kR0x.lean.js',
    'assets/inter-roman-latin.Di8DUHzh.woff2',
    'assets/style.a-b_C3dE.css',
    '_next/static/chunks/123-0f1e2d3c4b5a6978.js',
    '_next/static/css/0f1e2d3c4b5a6978.css'.replace('css/', 'css/main.'),
    'img/logo-3f2a91bc.svg',
  ])('%s contains a hash, so it is immutable', (path) => {
    expect(cacheControl(path)).toBe('max-age=604800, immutable');
    expect(cacheControl(path, true)).toBe('private, max-age=604800, immutable');
  });

  it.each([
    'index.html',
    'guides/start.html',
    'app.js',
    'styles/bootstrap.min.css',
    'img/photo-20261121.jpg',
    'releases/notes-facade.html',
    'jquery-3.7.1.js',
    'img/screenshot.png',
    'docs/v12345678.html',
  ])('%s contains no hash, so it is revalidated each time', (path) => {
    expect(cacheControl(path)).toBe('no-cache');
  });
});
