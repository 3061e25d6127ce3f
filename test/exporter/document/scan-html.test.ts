import { isOfInterest } from '../../../exporter/document/html/attributes.ts';
import { scanHtml } from '../../../exporter/document/html/scan-html.ts';
import { type MarkupVisitor, scanMarkup } from '../../../exporter/document/html/scan-markup.ts';
import fc from '../../helpers/fast-check.ts';

function eventsOf(scan: (visitor: MarkupVisitor) => void): unknown[] {
  const events: unknown[] = [];
  scan({
    tag: (tag) => events.push(['tag', structuredClone(tag)]),
    raw: ({ name }, content, end) => events.push(['raw', name, content, end]),
    close: (name, start) => events.push(['close', name, start]),
  });
  return events;
}

function scanned(source: string): unknown[] {
  return eventsOf((visitor) => scanHtml(source, isOfInterest, visitor));
}

const pieces = [
  ...['<', '>', '/', '</', '<a', '<b', ' href', ' src', '=', '"', "'", ' ', '\n', '\t', 'x', 'A', '1', '[', ']', '-'],
  ...['&amp;', '&amp', '&#38;', '&lt', '&notit;', '&x', ' onload', '=foo', '!', '<!', '<!doctype', '<?', '?>'],
  ...['<!--', '-->', '--!>', '<![CDATA[', ']]>', '<script', '</script', '<style>', '</style', '<IMG', '\xe9'],
  ...['<title>', '</title>', '<textarea', '</textarea>', '<plaintext', '<iframe>', '</iframe>', '<xmp', '<noembed>'],
];

describe('scanHtml', () => {
  it('reports the same events for any text as the parser library’s tokenizer', () => {
    const documents = fc.array(fc.constantFrom(...pieces), { maxLength: 24 }).map((parts) => parts.join(''));
    fc.assert(
      fc.property(documents, (source) => {
        const expected = eventsOf((visitor) => scanMarkup(source, { xml: false, isOfInterest }, visitor));
        expect(scanned(source)).toEqual(expected);
      }),
      { numRuns: 3_000 },
    );
  });
});
