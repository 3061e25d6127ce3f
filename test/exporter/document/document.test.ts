import { documentFormat, readDocument } from '../../../exporter/document/document.ts';

const utf8 = (bytes: Uint8Array) => Buffer.from(bytes).toString('utf8');
const read = (bytes: Uint8Array, contentType: string) => readDocument({ bytes, contentType, url: 'https://x/' });

describe('a fetched document', () => {
  it.each([
    ['text/html; charset=utf-8', '/x', 'html'],
    ['APPLICATION/XHTML+XML', '/x', 'html'],
    ['text/css', '/x', 'css'],
    ['application/x-javascript', '/x', 'js'],
    ['image/svg+xml', '/x', 'svg'],
    ['application/rss+xml', '/x', 'xml'],
    ['application/manifest+json', '/x', 'manifest'],
    ['application/json', '/manifest.json', 'manifest'],
    ['application/json', '/data.json', 'json'],
    ['model/gltf+json', '/m/chair', 'json'],
    ['application/json', '/app.js.map', 'other'],
    ['application/vnd.oai.openapi', '/openapi', 'yaml'],
    ['text/plain', '/openapi.yml', 'yaml'],
    ['application/x-yaml', '/openapi', 'yaml'],
    ['application/feed+json', '/feed.json', 'feed'],
    ['application/octet-stream', '/x.mjs?v=1', 'js'],
    ['', '/x.css', 'css'],
    ['image/png', '/x.css', 'other'],
  ])('of type %j at %s is read as %s', (type, url, format) => {
    expect(documentFormat(type, url)).toBe(format);
  });

  it('in UTF-8 keeps its exact bytes', () => {
    const bytes = Buffer.from('<meta charset="utf-8">é');
    expect(read(bytes, 'text/html').bytes).toBe(bytes);
    const invalid = Buffer.from([0x3c, 0x61, 0x3e, 0xff, 0xc3]);
    expect(read(invalid, 'text/html; charset=utf-8').bytes).toBe(invalid);
  });

  it.each([
    ['the header', Buffer.from('<p>\xe9', 'latin1'), 'text/html; charset="ISO-8859-1"', '<p>é'],
    ['a meta charset', Buffer.from('<meta charset=latin1><p>\x80', 'latin1'), 'text/html', '<meta charset=latin1><p>€'],
    [
      'a meta content type',
      Buffer.from('<META http-equiv="Content-Type" content="text/html; charset=windows-1251">\xcf', 'latin1'),
      'text/html',
      '<META http-equiv="Content-Type" content="text/html; charset=windows-1251">П',
    ],
    ['a byte order mark', Buffer.from('\ufeff<p>é', 'utf16le'), 'text/html; charset=ascii', '<p>é'],
    ['nothing, when it isn’t UTF-8', Buffer.from('<p>caf\xe9', 'latin1'), 'text/html', '<p>café'],
    ['Shift JIS', Buffer.from([0x3c, 0x70, 0x3e, 0x93, 0xfa]), 'text/html; charset=shift_jis', '<p>日'],
  ])('in another charset, declared by %s, becomes UTF-8', (_, bytes, type, expected) => {
    expect(utf8(read(bytes, type).bytes)).toBe(expected);
  });

  it('has UTF-8 in its content type after the conversion', () => {
    expect(read(Buffer.from('<p>\xe9', 'latin1'), 'text/HTML; charset=latin1').contentType).toBe(
      'text/html; charset=utf-8',
    );
    expect(read(Buffer.from('<p>'), 'text/html; charset=latin1').contentType).toBe('text/html; charset=utf-8');
    expect(read(Buffer.from('<p>'), 'text/html; charset=UTF-8').contentType).toBe('text/html; charset=UTF-8');
  });

  it('of CSS or XML gets a new charset declaration', () => {
    const css = Buffer.from('@charset "iso-8859-1";a{content:"\xe9"}', 'latin1');
    expect(utf8(read(css, 'text/css').bytes)).toBe('@charset "utf-8";a{content:"é"}');
    const xml = Buffer.from('<?xml version="1.0" encoding="iso-8859-1"?><a>\xe9</a>', 'latin1');
    expect(utf8(read(xml, 'application/xml').bytes)).toBe('<?xml version="1.0" encoding="utf-8"?><a>é</a>');
  });

  it('of XML that only its header declares as UTF-8 gets UTF-8 as its own declaration', () => {
    const xhtml = Buffer.from('<?xml version="1.0" encoding="latin1"?><html>é</html>');
    const type = 'application/xhtml+xml; charset=utf-8';
    expect(utf8(read(xhtml, type).bytes)).toContain('encoding="utf-8"');
    const broken = Buffer.concat([xhtml, Buffer.from([0xff])]);
    expect(read(broken, type).bytes.at(-1)).toBe(0xff);
  });

  it('of XHTML is decoded by its XML declaration', () => {
    const bytes = Buffer.from('<?xml version="1.0" encoding="windows-1251"?><html>\xcf</html>', 'latin1');
    expect(utf8(read(bytes, 'application/xhtml+xml').bytes)).toBe(
      '<?xml version="1.0" encoding="utf-8"?><html>П</html>',
    );
  });

  it('of plain JSON is a manifest or a feed if its content says so', () => {
    const format = (value: object) => read(Buffer.from(JSON.stringify(value)), 'application/json').format;
    expect(format({ name: 'a', start_url: '/', icons: [] })).toBe('manifest');
    expect(format({ version: 'https://jsonfeed.org/version/1' })).toBe('feed');
    expect(format({ icons: [], name: 'a' })).toBe('json');
  });

  it('in UTF-8 with an unknown charset in its header, or without text, stays unchanged', () => {
    const text = Buffer.from('é');
    expect(read(text, 'text/html; charset=klingon').bytes).toBe(text);
    const bytes = Buffer.from([0xff, 0x00, 0x80]);
    expect(read(bytes, 'image/png').bytes).toBe(bytes);
  });
});
