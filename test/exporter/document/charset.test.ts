import { readFileSync } from 'node:fs';
import { readDocument } from '../../../exporter/document/document.ts';
import { extract } from '../../../exporter/document/extract.ts';
import { extractFrom, referencesOf, rewritten, SITE } from './engine.ts';

const latin1 = (text: string) => Buffer.from(text, 'latin1');

type Given = { type?: string; inherited?: string };

/** The text that a browser shows, with the charset's labels as they were. */
function decoded(bytes: Uint8Array, { type = 'text/html', inherited }: Given = {}): string {
  return Buffer.from(readDocument({ bytes, contentType: type, url: 'https://x/', inherited }).bytes).toString('utf8');
}

/** `日本` in ISO-2022-JP, in which all bytes are ASCII and look like a tag. */
const JIS = '\x1b$B<a;/\x1b(B';

describe('a page', () => {
  it.each([
    ['its byte order mark', '\xef\xbb\xbf<meta charset=koi8-r>\xc3\xa9', 'text/html; charset=koi8-r', 'é'],
    ['its header', '<meta charset=utf-8>\xe9', 'text/html; charset=latin1', 'é'],
    ['its header, quoted', '\xe9', 'text/html; charset="windows-1252"', 'é'],
    ['its meta, if the header names none', '<meta charset=windows-1251>\xcf', 'text/html; charset=klingon', 'П'],
    ['its meta', '<meta charset="koi8-r">\xcf', 'text/html', 'о'],
    ['its meta of a content type', '<meta content="text/html; charset = koi8-r" http-equiv=content-type>\xcf', '', 'о'],
    ['the first meta that names one', '<meta charset=x><meta charset=koi8-r><meta charset=latin1>\xcf', '', 'о'],
    ['a meta behind 1,024 bytes of its head', `<style>${' '.repeat(2_000)}</style><meta charset=koi8-r>\xcf`, '', 'о'],
    ['a meta in the body of its first 1,024 bytes', '<p><meta charset=koi8-r>\xcf', '', 'о'],
    ['ISO-2022-JP, whose bytes are ASCII', `<meta charset=ISO-2022-JP>${JIS}`, '', '釈晒'],
    ['windows-1252, if a meta says x-user-defined', '<meta charset=x-user-defined>\xe9', '', 'é'],
    ['x-user-defined, if its header says so', '\xe9', 'text/html; charset=x-user-defined', '\uf7e9'],
    ['UTF-8, if a meta says UTF-16', '<meta charset=utf-16le>\xc3\xa9', '', 'é'],
    ['UTF-16, if its header says so', 'e\0\xe9\0', 'text/html; charset=utf-16', 'eé'],
    ['its XML declaration', '<?xml version="1.0" encoding="koi8-r"?>\xcf', '', 'о'],
    ['no charset that browsers have given up', 'a', 'text/html; charset=hz-gb-2312', '\ufffd'],
    ['UTF-8, if it is valid', '\xc3\xa9', '', 'é'],
    ['windows-1252 otherwise', '\x80\xe9', '', '€é'],
  ])('is decoded by %s', (_, bytes, type, expected) => {
    expect(decoded(latin1(bytes), { type: type || 'text/html' }).replace(/^\ufeff?(<.*>)*/s, '')).toBe(expected);
  });

  it.each([
    ['a comment', '<!-- <meta charset=koi8-r> -->'],
    ['a title', '<title><meta charset=koi8-r></title>'],
    ['another meta', '<meta name="description" content="charset=koi8-r">'],
    ['the body, behind 1,024 bytes', `<p>${' '.repeat(1_024)}<meta charset=koi8-r>`],
    ['a tag cut by the end', '<meta charset=koi8-r'],
  ])('isn’t decoded by a label in %s', (_, text) => {
    expect(decoded(latin1(`\xe9${text}`))).toBe(`é${text}`);
  });

  it('in a frame has the charset of the page around it, unless it has its own', () => {
    expect(decoded(latin1('\xcf'), { inherited: 'koi8-r' })).toBe('о');
    expect(decoded(latin1('<meta charset=windows-1251>\xcf'), { inherited: 'koi8-r' })).toContain('П');
  });

  it('declares UTF-8 in the bundle', () => {
    const text = latin1('<meta charset=koi8-r><META http-equiv="content-type" content=\'a; CHARSET="koi8-r"\'>\xcf');
    expect(rewritten({ text, type: 'text/html' })).toBe(
      '<meta charset=utf-8><META http-equiv="content-type" content=\'a; CHARSET="utf-8"\'>о',
    );
    expect(rewritten({ text: latin1('<title>a</title>'), type: 'text/html; charset=koi8-r' })).toBe(
      '<meta charset="utf-8"><title>a</title>',
    );
    const late = `<p>${' '.repeat(1_024)}<meta charset=utf-8>é`;
    expect(rewritten({ text: late })).toBe(`<meta charset="utf-8">${late}`);
  });

  it('of the case of ISO-2022-JP has all its links', () => {
    const { type, body } = JSON.parse(readFileSync('test/fixtures/charsets/iso-2022-jp.json', 'utf8'));
    const text = Buffer.from(body, 'base64');
    expect(referencesOf({ text, type })).toEqual(['page /next.html', 'page /prev.html']);
    expect(rewritten({ text, type })).toContain('charset=utf-8"><title>t</title></head><body><p>釈晒曾→</p>');
  });
});

describe('a stylesheet or script', () => {
  it.each([
    ['its header', '\xcf', 'text/css; charset=koi8-r', 'windows-1251', 'о'],
    ['its declaration', '@charset "koi8-r";\xcf', 'text/css', 'windows-1251', '@charset "utf-8";о'],
    ['UTF-8, if it declares UTF-16', '@charset "utf-16";\xc3\xa9', 'text/css', 'koi8-r', '@charset "utf-8";é'],
    ['the page that loads it', '\xcf', 'text/css', 'windows-1251', 'П'],
    ['the page that loads it, also if its bytes are ASCII', JIS, 'text/javascript', 'iso-2022-jp', '釈晒'],
    ['the page that loads it, also if it is valid UTF-8', '\xc3\xa9', 'text/javascript', 'windows-1252', 'Ã©'],
    ['its byte order mark', '\xef\xbb\xbf\xc3\xa9', 'text/javascript; charset=koi8-r', 'koi8-r', '\ufeffé'],
    ['UTF-8, if it is valid', '\xc3\xa9', 'text/css', undefined, 'é'],
    ['windows-1252 otherwise', '\xe9', 'text/javascript', undefined, 'é'],
  ])('is decoded by %s', (_, bytes, type, inherited, expected) => {
    expect(decoded(latin1(bytes), { type, ...(inherited !== undefined && { inherited }) })).toBe(expected);
  });

  const charsets = (text: string, type = 'text/html; charset=koi8-r') =>
    extractFrom({ text: latin1(text), type }).resources.map(({ url, charset }) => [new URL(url).pathname, charset]);

  it('inherits the charset of what loads it, or that of the element', () => {
    expect(
      charsets('<link rel=stylesheet href=/a.css><script src=/a.js></script><style>@import "/b.css";</style>'),
    ).toEqual([
      ['/a.css', 'koi8-r'],
      ['/a.js', 'koi8-r'],
      ['/b.css', 'koi8-r'],
    ]);
    expect(charsets('@import "/a.css";', 'text/css; charset=koi8-r')).toEqual([['/a.css', 'koi8-r']]);
    expect(charsets('<iframe src=/a></iframe><iframe src="//o.org/b">')).toEqual([
      ['/a', 'koi8-r'],
      ['/b', undefined],
    ]);
    expect(
      charsets('<script src=/a.js charset=cp1251></script><link rel=stylesheet href=/a.css charset=utf8>'),
    ).toEqual([
      ['/a.js', 'windows-1251'],
      ['/a.css', undefined],
    ]);
    expect(charsets('<script src=/a.js charset=cp1251></script>', 'text/html; charset=utf-8')).toEqual([
      ['/a.js', 'windows-1251'],
    ]);
  });

  it('inherits none if it is a module, and files that are no text inherit none', () => {
    expect(charsets('<script type=module src=/a.js></script><img src=/a.png><a href=/a>')).toEqual([
      ['/a.js', undefined],
      ['/a.png', undefined],
      ['/a', undefined],
    ]);
    expect(charsets('<script src=/a.js></script>', 'text/html; charset=utf-8')).toEqual([['/a.js', undefined]]);
  });
});

describe('the query of a URL', () => {
  it.each([
    ['windows-1251', 'q=\xcf', '?q=%CF'],
    ['windows-1251', 'q=&#1055;&#8364;&#20013;', '?q=%CF%88%26%2320013;'],
    ['shift_jis', 'q=\x93\xfa&x=1', '?q=%93%FA&x=1'],
    ['iso-2022-jp', `q=${JIS}`, '?q=%1B$B%3Ca;/%1B(B'],
    ['utf-8', 'q=\xc3\xa9', '?q=%C3%A9'],
    ['utf-16', '', ''],
  ])('is encoded in the charset of its page, here %s', (charset, query, expected) => {
    const text = latin1(`<a href="/x?${query}#\xe9">`);
    const page = charset === 'utf-16' ? Buffer.from('<a href="/x?q=é">', 'utf16le') : text;
    const { resources } = extractFrom({ text: page, type: `text/html; charset=${charset}` });
    expect(resources[0]?.url).toBe(`https://${SITE.domain}/x${charset === 'utf-16' ? '?q=%C3%A9' : expected}`);
  });

  it('is written as the page’s charset has it if the link stays absolute', () => {
    const text = latin1(
      '<meta charset=windows-1251><a href="https://o.org/\xcf?q=\xcf&amp;x#\xcf"><a href="https://o.org/?a&b">',
    );
    expect(rewritten({ text, type: 'text/html' })).toBe(
      '<meta charset=utf-8><a href="https://o.org/%D0%9F?q=%CF&amp;x#П"><a href="https://o.org/?a&amp;b">',
    );
  });

  it('of a stylesheet is encoded in its charset', () => {
    const document = { bytes: latin1('a{b:url(i.png?\xcf)}'), contentType: 'text/css', url: `${SITE.origin}/a.css` };
    const { resources } = extract(readDocument({ ...document, inherited: 'windows-1251' }), SITE);
    expect(resources.map(({ url }) => url)).toEqual([`https://${SITE.domain}/i.png?%CF`]);
  });
});
