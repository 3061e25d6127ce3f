import { notedRequest } from '../../../exporter/render/page-requests.ts';

const site = { domain: 'docs.example.com', origin: 'http://127.0.0.1:8080' };

describe('a browser’s request adds to the export', () => {
  it('a file of the site, under its exact name without the query', () => {
    const noted = { url: 'https://docs.example.com/index/a.json', kind: 'probe' };
    expect(notedRequest('fetch', 'https://docs.example.com/index/a.json?v=2', site)).toEqual(noted);
    expect(notedRequest('image', 'https://docs.example.com/index/a.json', site)).toEqual(noted);
  });

  it('a style, script or font of another host, but no image, which may only count visitors', () => {
    const url = 'https://cdn.example/x?cid=1';
    for (const type of ['stylesheet', 'script', 'font']) {
      expect(notedRequest(type, url, site)).toEqual({ url, kind: 'asset' });
    }
    for (const type of ['image', 'fetch', 'xhr', 'other']) expect(notedRequest(type, url, site)).toBeUndefined();
  });
});
