import { contentTypeOf, isAttachment } from '../../../exporter/fetch/content-type.ts';

const PAGE = '<!doctype html><title>x</title>';
const PNG = '\x89PNG\r\n\x1a\n0000';

function typeOf(contentType: string[], body: string, headers: Record<string, string> = {}): string {
  const given = contentType.length === 0 ? {} : { 'content-type': contentType };
  return contentTypeOf({ ...given, ...headers }, Buffer.from(body, 'latin1'));
}

describe('the content type of a response, as browsers find it', () => {
  it.each([
    ['no header, of a page', [], PAGE, 'text/html'],
    ['no header, of a page after spaces and a comment', [], ' \n<!-- x --><p>', 'text/html'],
    ['no header, of an image', [], PNG, 'image/png'],
    ['no header, of text', [], 'a { color: red }', 'text/plain'],
    ['no header, of bytes', [], '\0\x01', 'application/octet-stream'],
    ['no header, of a PDF', [], '%PDF-1.4', 'application/pdf'],
    ['no valid type', ['html'], PAGE, 'text/html'],
    ['an empty type', [''], PAGE, 'text/html'],
    ['any type', ['*/*'], PAGE, 'text/html'],
    ['an unknown type', ['application/unknown'], PAGE, 'text/html'],
    ['the last of several headers', ['text/plain', 'text/html'], PAGE, 'text/html'],
    ['the last of several headers, text', ['text/html', 'text/plain'], PAGE, 'text/plain'],
    ['the last of several values', ['text/plain, text/html'], PAGE, 'text/html'],
    ['the last valid of several headers', ['text/html', 'bogus'], PAGE, 'text/html'],
    ['the charset of an equal type', ['text/html;charset=gbk', 'text/html'], PAGE, 'text/html;charset=gbk'],
    ['a comma in a quoted parameter', ['text/html; x="a,b"'], PAGE, 'text/html;x="a,b"'],
    ['a page, although it is called text', ['text/plain'], PAGE, 'text/plain'],
    ['a page, although it is called a file', ['application/octet-stream'], PAGE, 'application/octet-stream'],
    ['text that is none', ['text/plain'], '\0\x01\x02', 'application/octet-stream'],
    ['text in a charset', ['text/plain; charset=UTF-8'], 'text', 'text/plain; charset=UTF-8'],
    ['an image of another format', ['image/gif'], PNG, 'image/png'],
    ['an image of an unknown format', ['image/avif'], 'xxxx', 'image/avif'],
    ['a drawing', ['image/svg+xml'], PNG, 'image/svg+xml'],
    ['a sound', ['audio/ogg'], 'OggS\0', 'audio/ogg'],
    ['a type as it is written', ['Text/HTML; Charset=UTF-8'], PAGE, 'Text/HTML; Charset=UTF-8'],
    ['a type that is too long for a bundle', [`text/css; a=${'b'.repeat(2_000)}`], 'a{}', 'text/css'],
  ])('%s', (_, header, body, type) => {
    expect(typeOf(header, body)).toBe(type);
  });

  it('is no page if the origin forbids to look at the bytes', () => {
    expect(typeOf([], PAGE, { 'x-content-type-options': 'nosniff' })).toBe('text/plain');
    expect(typeOf(['image/gif'], PNG, { 'x-content-type-options': 'NoSniff' })).toBe('image/gif');
  });
});

test.each([
  ['attachment', true],
  ['attachment; filename="a.html"', true],
  ["Attachment; filename*=UTF-8''caf%C3%A9.html", true],
  ['download', true],
  ['inline', false],
  ['inline; filename=a.zip', false],
  ['filename=a.zip', false],
  ['', false],
])('Content-Disposition %j means that a browser saves the file: %s', (header, expected) => {
  expect(isAttachment({ 'content-disposition': header })).toBe(expected);
});
