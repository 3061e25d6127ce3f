import { type DefaultTreeAdapterTypes, Parser, type Token } from 'parse5';
import { isOfInterest } from '../../../exporter/document/html/attributes.ts';
import { prologEnd, scanHtml } from '../../../exporter/document/html/scan-html.ts';
import { decodeBytes } from '../../../exporter/document/spanned-text.ts';
import fc from '../../helpers/fast-check.ts';

type Seen = [name: string, start: number, end: number, attributes: string[]];

function scanned(source: string): Seen[] {
  const tags: Seen[] = [];
  const shown = (name: string) => name.replaceAll('\0', '\ufffd');
  scanHtml(source, isOfInterest, {
    tag: ({ name, start, end, attributes }) => {
      const own = attributes.filter((each) => isOfInterest(each.name));
      tags.push([shown(name), start, end, own.map((each) => `${shown(each.name)}=${decodeBytes(each.value.text)}`)]);
    },
    raw: () => undefined,
    close: (name, start) => tags.push([`/${shown(name)}`, start, -1, []]),
  });
  return tags;
}

/** Reports the tags that the parser library reads, with the document's tree. */
class ReferenceParser extends Parser<DefaultTreeAdapterTypes.DefaultTreeAdapterMap> {
  readonly tags: Seen[] = [];

  override onStartTag(token: Token.TagToken): void {
    const { startOffset = 0, endOffset = 0 } = token.location ?? {};
    const attributes = token.attrs
      .filter(({ name }) => isOfInterest(name))
      .map(({ name, value }) => `${name}=${value}`);
    this.tags.push([token.tagName, startOffset, endOffset, attributes]);
    super.onStartTag(token);
  }

  override onEndTag(token: Token.TagToken): void {
    const start = token.location?.startOffset ?? 0;
    // A tag that opens other elements first is reported again.
    if (this.tags.at(-1)?.[1] !== start) this.tags.push([`/${token.tagName}`, start, -1, []]);
    super.onEndTag(token);
  }
}

function expected(source: string): Seen[] {
  const parser = new ReferenceParser({ sourceCodeLocationInfo: true });
  parser.tokenizer.write(source, true);
  return parser.tags;
}

/** Names only. */
function namesIn(source: string): string[] {
  return scanned(source).map(([name]) => name);
}

const syntax = [
  ...['<', '>', '/', '</', '<a', '<b', ' href', ' src', '=', '"', "'", ' ', '\n', '\t', 'x', 'A', '1', '[', ']', '-'],
  ...[
    '&amp;',
    '&amp',
    '&#38;',
    '&lt',
    '&notit;',
    '&x',
    '&Aacute;',
    ' onload',
    '=foo',
    '!',
    '<!',
    '<!doctype',
    '<?',
    '?>',
  ],
  ...['<!--', '-->', '--!>', '<![CDATA[', ']]>', '<script', '</script', '<style>', '</style', '<IMG', '\0', '\f'],
  ...['<title>', '</title>', '<textarea', '</textarea>', '<plaintext', '<iframe>', '</iframe>', '<xmp', '<noembed>'],
];
const scripts = ['<script>', '</script>', '</script ', '<script', '<!--', '-->', '>', '-', '!', '<a href=x>', '/', ' '];
const html = [
  ...[
    '<p>',
    '</p>',
    '<div>',
    '</div>',
    '<b>',
    '</b>',
    '<a href=x>',
    '</a>',
    '<li>',
    '<table>',
    '<tr>',
    '<td>',
    '</td>',
  ],
  ...[
    '</table>',
    '<br>',
    '</br>',
    '<span>',
    '</span>',
    '<font>',
    '<font size=1>',
    '<img src=y>',
    '<style>',
    '</style>',
  ],
  ...['<title>', '</title>', '<script>', '</script>', '<body>', '</body>', 'x'],
];
const foreign = [
  ...['<svg>', '</svg>', '<svg/>', '<math>', '</math>', '<path>', '<path/>', '</path>', '<g>', '</g>', '<style/>'],
];
const points = [
  ...['<foreignObject>', '</foreignobject>', '<desc>', '</desc>', '<title/>', '<mi>', '</mi>', '<mglyph>', '</mglyph>'],
  ...['<annotation-xml>', '<annotation-xml encoding="text/html">', '</annotation-xml>', '<textarea>', '</textarea>'],
];

describe('scanHtml', () => {
  it.each([
    ['syntax', syntax],
    ['scripts', ['<script>', ...scripts]],
    ['elements in SVG and MathML', [...html, ...foreign, ...foreign, ...points]],
    // The library reads CDATA in an integration point as HTML; browsers and the standard don't.
    ['CDATA in SVG and MathML', [...foreign, ...foreign, '<p>', '</p>', '<a href=x>', '<![CDATA[', ']]>', '>']],
  ])('finds the tags that the standard’s parser finds in any document of %s', (_, pieces) => {
    const documents = fc.array(fc.constantFrom(...pieces), { maxLength: 24 }).map((parts) => parts.join(''));
    fc.assert(
      fc.property(documents, (source) => expect(scanned(source)).toEqual(expected(source))),
      { numRuns: 3_000 },
    );
  });

  it('reads CDATA as text where an element of SVG or MathML is the innermost', () => {
    expect(namesIn('<![CDATA[<a>]]><b>')).toEqual(['b']);
    expect(namesIn('<![CDATA[>]]><b>')).toEqual(['b']);
    for (const point of ['svg><desc', 'math><mi', 'svg']) {
      expect(namesIn(`<${point}><![CDATA[<a>]]><i>`)).not.toContain('a');
      expect(namesIn(`<${point}><![CDATA[<a>]]><i>`)).toContain('i');
    }
    expect(namesIn('<svg><desc><b><![CDATA[<a>]]>')).toContain('b');
  });

  it('reads what browsers without scripts show, up to the end of the noscript', () => {
    const inside = (content: string) => namesIn(`<noscript>${content}</noscript><i>`);
    expect(inside('<img><a>')).toEqual(['noscript', 'img', 'a', '/noscript', 'i']);
    expect(inside('<title><a>')).toEqual(['noscript', 'title', '/noscript', 'i']);
    expect(inside('<!--')).toEqual(['noscript', '/noscript', 'i']);
    expect(inside('<noscript><svg><title>')).toEqual(['noscript', 'noscript', 'svg', 'title', '/noscript', 'i']);
    expect(inside('<svg><p><title></p><a>')).toEqual(['noscript', 'svg', 'p', 'title', '/noscript', 'i']);
    expect(namesIn('<svg><noscript><title></noscript><a>')).toEqual(['svg', 'noscript', 'title', '/noscript', 'a']);
  });

  it('reports the element that hides the rest of the document', () => {
    const unclosed = (source: string) => {
      const names: string[] = [];
      const ignore = { tag: () => undefined, raw: () => undefined, close: () => undefined };
      scanHtml(source, isOfInterest, { ...ignore, unclosed: ({ name }) => names.push(name) });
      return names;
    };
    expect(unclosed('<title><a>')).toEqual(['title']);
    expect(unclosed('<script><!--<script></script><a>')).toEqual(['script']);
    expect(unclosed('<p><plaintext></plaintext><a>')).toEqual(['plaintext']);
    expect(unclosed('<svg><title><a>')).toEqual([]);
    expect(unclosed('<noscript><title>')).toEqual([]);
    expect(unclosed('<title></title>')).toEqual([]);
  });

  it('finds where the content begins', () => {
    const prologOf = (source: string) => source.slice(0, prologEnd(source));
    for (const prolog of [
      '',
      ' <!-->\n<!--->',
      '\xef\xbb\xbf<!-- a --!> ',
      '<?xml version="1.0"?><!doctype html>',
      '</ x><!x><!DOCTYPE>',
      '</>',
    ]) {
      expect(prologOf(`${prolog}<p><!doctype html>`)).toBe(prolog);
      expect(prologOf(`${prolog}x`)).toBe(prolog);
    }
    for (const endless of ['<!--', '<!-- a ->', '<!', '<? <p', '</ ', '<!doctype <p'])
      expect(prologEnd(endless)).toBe(-1);
  });

  it('reports the content of scripts and styles, decoded in SVG', () => {
    const contents = (source: string) => {
      const found: string[] = [];
      scanHtml(source, isOfInterest, {
        ...{ tag: () => undefined, close: () => undefined },
        raw: ({ name }, { text }, end, layer) => found.push(`${name}${layer} ${text} ${source.slice(end)}`),
      });
      return found;
    };
    expect(contents('<style>&lt;</style >.')).toEqual(['style &lt; .']);
    expect(contents('<svg><style>&lt;\0<b/>c</style>.')).toEqual(['stylex <\xef\xbf\xbdc .']);
    expect(contents('<svg><style> <![CDATA[&lt;]]></style>.')).toEqual(['style  &lt; .']);
    expect(contents('<svg><script/>.')).toEqual(['scriptx  .']);
    expect(contents('<svg><foreignObject><style>&lt;</style>.')).toEqual(['style &lt; .']);
  });
});
