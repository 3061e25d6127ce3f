import { bundleManifest } from '../../../contract/bundle.ts';
import { originalUrl } from '../../../exporter/assemble/original-url.ts';
import { assignPath } from '../../../exporter/urls/assign-path.ts';
import { normalizeUrl } from '../../../exporter/urls/identity.ts';

const site = { domain: 'docs.example.com', origin: 'http://127.0.0.1:8080' };

function originalOf(address: string, contentType = 'text/html'): string | undefined {
  const url = normalizeUrl(address, site, `https://${site.domain}/`) ?? '';
  const path = assignPath({ url, contentType, kind: 'asset' }, site);
  return originalUrl({ url, path }, site).url;
}

describe('a file’s URL in the manifest', () => {
  it.each([
    ['/', 'text/html', '/'],
    ['/x', 'text/html', '/x'],
    ['/dir/', 'text/html', '/dir/'],
    ['/?q=1', 'text/html', '/?q=1'],
    ['/find.html?q=a%20b', 'text/html', '/find.html?q=a%20b'],
    ['/café', 'text/html', '/caf%C3%A9'],
    ['/download.php', 'text/html', '/download.php'],
    ['/feed/', 'application/rss+xml', '/feed/'],
    ['/download', 'application/pdf', '/download'],
    ['/LICENSE', 'text/plain', '/LICENSE'],
    ['/avatar/42', 'image/png', '/avatar/42'],
    ['/style.css?v=2', 'text/css', '/style.css?v=2'],
    ['/%40scope%2fname.tgz', 'application/gzip', '/@scope%2Fname.tgz'],
    ['/u/caf%EF%BF%BD.png', 'image/png', '/u/caf%EF%BF%BD.png'],
  ])('is present for %s of type %s, because its path differs', (address, contentType, url) => {
    expect(originalOf(address, contentType)).toBe(url);
    expect(bundleManifest.shape.files.element.shape.url.parse(url)).toBe(url);
  });

  it.each([
    ['/x.html', 'text/html'],
    ['/dir/index.html', 'text/html'],
    ['/café/men%C3%BC.html', 'text/html'],
    ['/100%25.html', 'text/html'],
    ['/404.html', 'text/html'],
    ['/img/caf%E9.png', 'image/png'],
  ])('is omitted for %s, because its path implies it', (address, contentType) =>
    expect(originalOf(address, contentType)).toBeUndefined(),
  );

  it('is omitted if a browser would read it as another host', () => {
    expect(originalUrl({ url: `https://${site.domain}//evil`, path: 'evil.html' }, site)).toEqual({});
  });

  it('is present only for files of the site', () => {
    expect(originalOf('https://elsewhere.example/x')).toBeUndefined();
  });
});
