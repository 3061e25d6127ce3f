import { gunzipSync, gzipSync } from 'node:zlib';
import { readDocument } from '../../../exporter/document/document.ts';
import { extract } from '../../../exporter/document/extract.ts';
import { rewrite } from '../../../exporter/document/rewrite.ts';
import { originNames } from '../../../exporter/urls/origin-names.ts';
import { AUTO, everything, readMarks, resourcesOf, rewritten, SITE } from './engine.ts';

const O = SITE.origin;
const ESCAPED = O.replaceAll('/', '\\/');
const ENCODED = encodeURIComponent(O);
const PUBLIC = 'https://docs.example.com';

/** The address of the origin that becomes public. */
const own = (written = O, asPublic = PUBLIC) => `«${written}→${asPublic}»`;

const FILES: [what: string, type: string, url: string, marked: string][] = [
  [
    'robots.txt',
    'text/plain',
    '/robots.txt',
    `# ${O}/x\nUser-agent: *\nSitemap: ${own()}/s.xml\nsitemap:${own()}/t.xml`,
  ],
  ['security.txt', 'text/plain', '/.well-known/security.txt', `Canonical: ${own()}/.well-known/security.txt`],
  ['a sitemap of text', 'text/plain', '/sitemap.txt', `${own()}/\n${own()}/a?b=1\r\n`],
  [
    'OpenSearch',
    'application/opensearchdescription+xml',
    '/o.xml',
    `<OpenSearchDescription><Description>Try ${O}/x</Description><Url type="text/html" template="${own()}/s?q={searchTerms}&amp;p=1"/><Image>${own()}/i.png</Image><moz:SearchForm>${own()}/s</moz:SearchForm></OpenSearchDescription>`,
  ],
  [
    'a feed',
    'application/rss+xml',
    '/feed.xml',
    `<rss><channel><docs>${own()}/docs</docs><textInput><link>${own()}/s</link></textInput><item><source url="${own()}/feed">x</source><title>${O}</title>` +
      `<description>Run &lt;code&gt;${O}&lt;/code&gt; at &lt;a href="${own()}/a?b&amp;amp;c"&gt;${O}&lt;/a&gt;</description>` +
      `<content:encoded><![CDATA[<img src='${own()}/i.png' alt='${O}'><pre>curl ${O}/api</pre>]]></content:encoded></item></channel></rss>`,
  ],
  [
    'Atom with XHTML',
    'application/atom+xml',
    '/atom',
    `<feed><entry><author><uri>${own()}/me</uri></author><content type="xhtml"><div><a href="${own()}/b">see <code>${O}</code></a></div></content></entry></feed>`,
  ],
  [
    'other XML',
    'text/xml',
    '/x.xml',
    `<x><y at="${own()}/a"/><z>\n ${own()}/b\n</z><code>${O}</code><w>at ${O}</w></x>`,
  ],
  [
    'a web app manifest',
    'application/manifest+json',
    '/m.webmanifest',
    `{"name":"On ${O}","id":"${own()}/","protocol_handlers":[{"url":"${own(ESCAPED)}\\/h?u=%s"}],"description":"${O} is it"}`,
  ],
  [
    'a JSON feed',
    'application/feed+json',
    '/feed.json',
    `{"hubs":[{"url":"${own()}/hub"}],"items":[{"content_html":"<a href=\\"${own()}/a\\">${O}</a>","content_text":"See ${O}"}]}`,
  ],
  ['JSON', 'application/json', '/x.json', `{"a":"${own()}/api/","b":"curl ${O}/api","c":["${own()}"]}`],
  ['YAML', 'text/yaml', '/x.yaml', `servers:\n  - url: ${own()}/api/\n  - "${own()}/b/"\ndescription: use ${O}/api\n`],
  [
    'llms.txt',
    'text/plain',
    '/llms.txt',
    `# Docs\n\n- [Start](${own()}/start_(a).md): see ${O}\n- <${own()}/b>\n\n[x]: ${own()}/c "t"\n\n\`curl [a](${O}/a)\`\n\n\`\`\`sh\ncurl [a](${O}/api)\n\`\`\`\n\n~~~~\n~~~\n[a](${O})\n~~~~\n[b](${own()}/b)`,
  ],
  ['Markdown', 'text/markdown', '/guide.md', `![](<${own()}/i.png>) <img src="${own()}/j.png"> ${O}`],
];

describe('the address of the origin', () => {
  it.each(FILES)('is public in the URLs of %s, and nowhere else', (_, type, url, marked) => {
    const { before, after } = readMarks(marked);
    expect(rewritten({ text: before, type, url })).toBe(after);
  });

  const PAGES: [what: string, marked: string][] = [
    [
      'the URL of another site',
      `<a href="https://o.org/share?url=${own(ENCODED, encodeURIComponent(PUBLIC))}%2Fa&amp;v=${own()}">`,
    ],
    ['a link of no known relation', `<link rel="x" href="${own()}/api"><link itemprop="url" href="${own()}/api">`],
    [
      'data attributes',
      `<p data-base="${own()}/" data-j='{"a":"${own(ESCAPED)}\\/b\\/"}' data-x="//«127.0.0.1:8080→docs.example.com»/y/">`,
    ],
    ['meta elements', `<meta name="x" content="${own()}/y/"><meta name="description" content="At ${O}">`],
    ['structured data', `<script type="application/ld+json">{"@id":"${own()}/#a","text":"At ${O}"}</script>`],
    ['a frame’s own document', `<iframe srcdoc="<a href='https://o.org/?u=${own()}'>${O}</a>"></iframe>`],
  ];
  it.each(PAGES)('is public in %s', (_, marked) => {
    const { before, after } = readMarks(marked);
    expect(rewritten({ text: before, target: () => ({ missing: true }) })).toBe(after);
  });

  it.each([
    ['text', `<p>Open ${O}, or <code>${O}/a</code></p><pre>curl ${O}</pre>`],
    ['attributes that are shown or copied', `<p title="${O}" data-clipboard-text="${O}/x"><input value="${O}/a">`],
    [
      'scripts',
      `<script>fetch("${O}/api/" + x); y = "${O}/"</script><a onclick="go('${O}/')" href="javascript:go('${O}')">`,
    ],
    ['data of scripts', `<script type="application/json">{"a":"${O}/"}</script>`],
    ['other ports and hosts', `<a data-x="${O}1/a/"><a data-x="${O}.org/a/"><a data-x="http://127.0.0.1/">`],
  ])('stays in %s', (_, text) => {
    expect(rewritten({ text, target: () => ({ missing: true }) })).toBe(text);
  });

  it('is public in a compressed sitemap, which stays as it is otherwise', () => {
    const read = (text: string) => {
      const bytes = gzipSync(text, { level: 9 });
      const document = readDocument({ bytes, contentType: 'application/x-gzip', url: `${O}/s.xml.gz` });
      const extraction = extract(document, SITE);
      const input = { site: SITE, url: `${PUBLIC}/s.xml.gz`, ownPath: 's.xml.gz', policy: AUTO, target: everything };
      return { bytes, extraction, written: Buffer.from(rewrite({ ...input, bytes, extraction })) };
    };
    const sitemap = (host: string) => `<?xml version="1.0"?>\n<urlset><url><loc>${host}/a</loc></url></urlset>`;
    const { extraction, written } = read(sitemap(O));
    expect(extraction.resources).toEqual([{ url: `${PUBLIC}/a`, kind: 'identity' }]);
    expect(gunzipSync(written).toString()).toBe(sitemap(PUBLIC));
    const list = read(`${O}/a\n`);
    expect(gunzipSync(list.written).toString()).toBe(`${PUBLIC}/a\n`);
    for (const text of [sitemap(PUBLIC), 'any other text', `<html>${O}</html>`]) {
      const same = read(text);
      expect(same.written.equals(same.bytes)).toBe(true);
    }
  });

  it('is unknown if the origin is the public domain', () => {
    expect(originNames({ domain: 'docs.example.com', origin: PUBLIC })).toBeUndefined();
  });

  it('is the only part of a URL list that changes; its pages are found', () => {
    expect(resourcesOf({ text: `${O}/a\n${PUBLIC}/b\n`, type: 'text/plain', url: '/s.txt' })).toEqual([
      'identity /a',
      'identity /b',
    ]);
    const text = `${O}/a is a page\n`;
    expect(rewritten({ text, type: 'text/plain', url: '/s.txt' })).toBe(text);
  });
});
