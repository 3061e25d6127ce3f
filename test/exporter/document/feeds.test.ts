import { referencesOf, rewritten } from './engine.ts';

const rss = (text: string) => ({ text, type: 'application/rss+xml', url: '/blog/feed.xml' });
const sitemap = (text: string) => ({ text, type: 'application/xml', url: '/sitemap.xml' });

describe('a feed’s references', () => {
  it('are pages and media of the site, rewritten as absolute URLs', () => {
    const text =
      '<rss><channel><link>http://127.0.0.1:8080/</link><atom:link rel="self" href="feed.xml"/><image><url>/logo.png</url></image>' +
      '<item><link><![CDATA[http://127.0.0.1:8080/a?b=1&c=2]]></link><guid isPermaLink="false">a-1</guid><enclosure url="/a.mp3"/>' +
      '<media:content url="/m.jpg"/></item><item><link>\n https://docs.example.com/b \n</link><guid>http://127.0.0.1:8080/b</guid></item></channel></rss>';
    expect(referencesOf(rss(text))).toEqual([
      'identity /',
      'identity /blog/feed.xml',
      'card /logo.png',
      'identity /a?b=1&c=2',
      'card /a.mp3',
      'card /m.jpg',
      'identity /b',
      'identity /b',
    ]);
    expect(rewritten(rss(text))).toBe(
      text
        .replaceAll('http://127.0.0.1:8080/', 'https://docs.example.com/')
        .replace('href="feed.xml"', 'href="https://docs.example.com/blog/feed.xml"')
        .replace(/(>|")(\/[a-z.\d]+)(<|")/g, '$1https://docs.example.com$2$3'),
    );
  });

  it('of Atom are links, enclosures and images', () => {
    const text =
      '<feed><id>tag:docs.example.com,2026:x</id><link href="/"/><icon>/i.png</icon>' +
      '<entry><link rel="enclosure" href="/a.mp3"/><id>https://docs.example.com/a</id><content src="/c.png"/></entry></feed>';
    const sample = { text, type: 'application/atom+xml', url: '/feed' };
    expect(referencesOf(sample)).toEqual(['identity /', 'card /i.png', 'card /a.mp3', 'identity /a', 'card /c.png']);
  });

  it('of JSON are the same', () => {
    const text = JSON.stringify({
      version: 'https://jsonfeed.org/version/1.1',
      home_page_url: 'http://127.0.0.1:8080/',
      items: [
        { id: '1', url: '/a', external_url: 'https://o.org/', image: '/i.png', attachments: [{ url: '/a.mp3' }] },
      ],
    });
    for (const type of ['application/feed+json', 'application/json']) {
      const sample = { text, type, url: '/feed.json' };
      expect(referencesOf(sample)).toEqual([
        'identity /',
        'identity /a',
        'identity https://o.org/',
        'card /i.png',
        'card /a.mp3',
      ]);
      expect(JSON.parse(rewritten(sample))).toMatchObject({
        home_page_url: 'https://docs.example.com/',
        items: [{ url: 'https://docs.example.com/a', external_url: 'https://o.org/' }],
      });
    }
  });
});

describe('a sitemap’s references', () => {
  it('are its pages, their translations and images', () => {
    const text =
      '<?xml version="1.0"?><urlset><url><loc>http://127.0.0.1:8080/a?b&amp;c</loc><xhtml:link rel="alternate" hreflang="de" href="https://docs.example.com/de/a"/>' +
      '<image:image><image:loc>https://docs.example.com/i.png</image:loc></image:image></url></urlset>';
    expect(referencesOf(sitemap(text))).toEqual(['identity /a?b&c', 'identity /de/a', 'card /i.png']);
    expect(rewritten(sitemap(text))).toBe(text.replace('http://127.0.0.1:8080', 'https://docs.example.com'));
    expect(referencesOf(sitemap('<sitemapindex><sitemap><loc>/s.xml</loc></sitemap></sitemapindex>'))).toEqual([
      'identity /s.xml',
    ]);
  });

  it('stay byte by byte if they are already absolute', () => {
    const text = '<urlset><url><loc>https://docs.example.com/gr%c3%b6%c3%9fe</loc></url></urlset>';
    expect(rewritten(sitemap(text))).toBe(text);
  });
});
