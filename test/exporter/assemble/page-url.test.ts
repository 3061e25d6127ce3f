import { bundleManifest } from '../../../contract/bundle.ts';
import { pageUrl } from '../../../exporter/assemble/make-piece.ts';
import { assignPath } from '../../../exporter/urls/assign-path.ts';
import { normalizeUrl } from '../../../exporter/urls/identity.ts';

const site = { domain: 'docs.example.com', origin: 'http://127.0.0.1:8080' };

function addressOf(address: string, isPage = true): string | undefined {
  const url = normalizeUrl(address, site, `https://${site.domain}/`) ?? '';
  const path = assignPath({ url, contentType: 'text/html', kind: 'page' }, site);
  return pageUrl({ url, path, isPage }, site).url;
}

describe('a page’s URL in the manifest', () => {
  it.each([
    ['/', '/'],
    ['/x', '/x'],
    ['/dir/', '/dir/'],
    ['/?q=1', '/?q=1'],
    ['/find.html?q=a%20b', '/find.html?q=a%20b'],
    ['/café', '/caf%C3%A9'],
    ['/download.php', '/download.php'],
  ])('is present for %s, because its path differs', (address, url) => {
    expect(addressOf(address)).toBe(url);
    expect(bundleManifest.shape.files.element.shape.url.parse(url)).toBe(url);
  });

  it.each([['/x.html'], ['/dir/index.html'], ['/café/men%C3%BC.html'], ['/100%25.html'], ['/404.html']])(
    'is omitted for %s, because its path implies it',
    (address) => expect(addressOf(address)).toBeUndefined(),
  );

  it('is omitted if a browser would read it as another host', () => {
    expect(pageUrl({ url: `https://${site.domain}//evil`, path: 'evil.html', isPage: true }, site)).toEqual({});
  });

  it('is present only for pages of the site', () => {
    expect(addressOf('/x', false)).toBeUndefined();
    expect(addressOf('https://elsewhere.example/x')).toBeUndefined();
  });
});
