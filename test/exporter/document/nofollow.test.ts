import { extract } from '../../../exporter/document/extract.ts';

const SITE = { domain: 'docs.example.com', origin: 'https://docs.example.com' };

function linksOf(html: string, nofollow = false): string[] {
  const document = {
    bytes: Buffer.from(html),
    contentType: 'text/html',
    url: 'https://docs.example.com/',
    format: 'html',
    nofollow,
  } as const;
  return extract(document, SITE).resources.map(({ url, kind }) => `${kind} ${new URL(url).pathname}`);
}

describe('nofollow', () => {
  it('applies to links that have it in rel', () => {
    expect(
      linksOf('<a href=/a rel="noopener NoFollow">a</a><a href=/b rel=nofollowing>b</a><area href=/c rel=nofollow>'),
    ).toEqual(['unfollowed /a', 'page /b', 'unfollowed /c']);
  });

  it('applies to all links of a page that declares it, but not to embedded resources', () => {
    const body = '<a href=/a>a</a><form action=/f><iframe src=/i></iframe><img src=/p.png>';
    const links = ['unfollowed /a', 'unfollowed /f', 'page /i', 'asset /p.png'];
    expect(linksOf(`<meta name=robots content="noindex,nofollow">${body}`)).toEqual(links);
    expect(linksOf(body, true)).toEqual(links);
    expect(linksOf(`<meta name=otherbot content=nofollow>${body}`)).toEqual(
      links.map((link) => link.replace('unfollowed', 'page')),
    );
  });
});
