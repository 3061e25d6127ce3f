import { createHash } from 'node:crypto';
import { extract } from '../../../exporter/document/extract.ts';
import { elementsOfHeaders, readLinkHeader, readResponseDocument } from '../../../exporter/document/header-elements.ts';
import { rewrite } from '../../../exporter/document/rewrite.ts';
import { isSame } from '../../../exporter/reuse/previous-responses.ts';
import { assignPath } from '../../../exporter/urls/assign-path.ts';
import { AUTO, everything, SITE } from './engine.ts';

const ADDRESS = '/guides/start';
const HTML = 'text/html; charset=utf-8';

function documentOf(html: string, headers: Record<string, string | string[]>, contentType = HTML) {
  const fetched = { bytes: Buffer.from(html), contentType, url: SITE.origin + ADDRESS };
  return readResponseDocument(fetched, elementsOfHeaders(headers), SITE);
}

function exported(html: string, headers: Record<string, string | string[]>): string {
  const document = documentOf(html, headers);
  const url = `https://${SITE.domain}${ADDRESS}`;
  const ownPath = assignPath({ url, contentType: HTML, kind: 'page' }, SITE);
  const extraction = extract(document, SITE);
  const input = { bytes: document.bytes, extraction, site: SITE, url, ownPath, target: everything, policy: AUTO };
  return Buffer.from(rewrite(input)).toString('utf8');
}

describe('a Link header', () => {
  it.each([
    ['</a>; rel=next', [['/a', { rel: 'next' }]]],
    [
      '<a>;rel="next prev" ; title="a \\"b\\", <c>; d", <b>;REL = icon',
      [
        ['a', { rel: 'next prev', title: 'a "b", <c>; d' }],
        ['b', { rel: 'icon' }],
      ],
    ],
    [
      ' , < /a,b;c > ; rel=preload ; crossorigin; as=font; as=image, ',
      [['/a,b;c', { rel: 'preload', crossorigin: '', as: 'font' }]],
    ],
    [
      '<a>, <b>;;rel=',
      [
        ['a', {}],
        ['b', { rel: '' }],
      ],
    ],
    ['nonsense; rel=next', []],
    ['<a>; rel="next', [['a', { rel: '' }]]],
    ['<a', []],
  ])('is parsed: %s', (header, links) => {
    expect(readLinkHeader(header).map((each) => [each.target, Object.fromEntries(each.parameters)])).toEqual(links);
  });
});

describe('metadata that only a page’s headers have', () => {
  it('is added to its head', () => {
    const link = [
      '</site.css>; rel=stylesheet; media="(min-width: 1px)", </fonts.css>; rel="preload stylesheet"',
      '</icon.png>; rel=icon, <two>; rel=next, <https://docs.example.com/start>; rel=canonical',
    ];
    expect(exported('<!doctype html><head><base href="/deep/er/"><title>x</title>', { link })).toBe(
      '<!doctype html><head><meta charset="utf-8"/><link rel="stylesheet" href="../site.css" media="(min-width: 1px)"/>' +
        '<link rel="preload stylesheet" href="../fonts.css"/><link rel="icon" href="../icon.png"/>' +
        '<link rel="next" href="two.html"/><link rel="canonical" href="https://docs.example.com/start"/>' +
        '<base href="../deep/er/"><title>x</title>',
    );
  });

  it('can be a refresh, also of an empty page', () => {
    expect(exported('', { refresh: '0; url=/guides/next?a=1' })).toMatch(
      /^<meta charset="utf-8"\/><meta http-equiv="refresh" content="0; url=next\.[0-9a-f]+\.html"\/>$/,
    );
  });

  it('is ignored if it is a connection hint or describes another resource', () => {
    const link =
      '<https://cdn.example.com>; rel=preconnect, </api>; rel="https://api.w.org/", </x>; rel=next; anchor="#a"';
    expect(exported('<p>x', { link })).toBe('<p>x');
    expect(elementsOfHeaders({})).toBe('');
  });

  it('is escaped and written in ASCII', () => {
    const elements = elementsOfHeaders({ link: '</"é<script>; rel=next; title="\\"><b>&ü"', refresh: '1;url="<i>' });
    expect(elements).toMatch(/^[ -~]*$/);
    expect(elements.match(/<|>/g)).toHaveLength(4);
  });

  it('is not added to a file that isn’t a page', () => {
    const { bytes } = documentOf('body{}', { link: '</a.css>; rel=stylesheet' }, 'text/css');
    expect(String(bytes)).toBe('body{}');
  });

  it('makes the page differ from the last export if it has changed', () => {
    const link = '</a.css>; rel=stylesheet';
    const { bytes, contentType } = documentOf('<p>x', { link });
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    const stored = { objectKey: 'k', byteOffset: 0, byteLength: bytes.length, extractionLength: 0, sha256 };
    const none = { etag: null, lastModified: null, linksOffset: null, linksLength: null };
    const file = { url: ADDRESS, status: 200, contentType, isPage: true, ...stored, ...none };
    const known = { file, resources: () => [], newResources: () => [] };
    const answer = { kind: 'response', status: 200, contentType, body: Buffer.from('<p>x') } as const;
    const url = SITE.origin + ADDRESS;
    expect(isSame(known, { ...answer, headElements: elementsOfHeaders({ link }) }, { url }, SITE)).toBe(true);
    expect(isSame(known, answer, { url }, SITE)).toBe(false);
  });
});
