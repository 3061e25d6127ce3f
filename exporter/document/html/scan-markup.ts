import { QuoteType, Tokenizer } from 'htmlparser2';
import { SpanBuilder, type SpannedText } from '../spanned-text.ts';

/** An attribute of interest. `start` to `end` includes the space before its name and its quotes. */
export type Attribute = { name: string; start: number; end: number; value: SpannedText; layer: AttributeLayer };

/** Bounds the duplicate check, which is quadratic for hostile tags. */
export const MAX_ATTRIBUTES = 200;

/** How the value is quoted (`escape.ts`). */
export type AttributeLayer = '"' | "'" | '=';

/** An opening tag: `start` at `<`, `nameEnd` after the name, `end` after `>`. Names are in lower case. */
export type Tag = { name: string; start: number; nameEnd: number; end: number; attributes: readonly Attribute[] };

export type MarkupVisitor = {
  tag(tag: Tag): void;
  /** The content of a `<script>` or `<style>`. `end` is after the closing tag. */
  raw(tag: Tag, content: SpannedText, end: number): void;
  /** A closing tag; `start` at `<`. */
  close(name: string, start: number): void;
  /** A processing instruction, from `<` to `>`. */
  instruction?(start: number, end: number): void;
};

export type ScanOptions = {
  xml: boolean;
  isOfInterest: (attributeName: string) => boolean;
  /** Elements whose text is reported, in addition to `<script>` and `<style>`. */
  hasText?: (tagName: string) => boolean;
};

/**
 * Reads markup as a browser's tokenizer does, including broken tags, odd quotes and unknown names. `source` is latin1.
 * The first of a repeated attribute counts, as in browsers.
 */
export function scanMarkup(source: string, options: ScanOptions, visitor: MarkupVisitor): void {
  const value = new SpanBuilder();
  const content = new SpanBuilder();
  let tag: Tag & { attributes: Attribute[] } = { name: '', start: 0, nameEnd: 0, end: 0, attributes: [] };
  let rawTag: Tag | undefined;
  let name = '';
  let nameStart = 0;
  let nameEnd = 0;
  let valueBegun = false;

  const openTag = (end: number): void => {
    tag.end = end;
    visitor.tag(tag);
    if (tag.name !== 'script' && tag.name !== 'style' && !options.hasText?.(tag.name)) return;
    rawTag = tag;
    content.begin(end);
  };
  const closeRaw = (contentEnd: number, end: number): void => {
    if (rawTag === undefined) return;
    const closed = rawTag;
    rawTag = undefined;
    visitor.raw(closed, content.finish(contentEnd), end);
  };

  const tokenizer = new Tokenizer(
    { xmlMode: options.xml, decodeEntities: true, recognizeSelfClosing: options.xml },
    {
      onopentagname(start, end) {
        tag = {
          name: source.slice(start, end).toLowerCase(),
          start: start - 1,
          nameEnd: end,
          end,
          attributes: [],
        };
      },
      onattribname(start, end) {
        const found = source.slice(start, end).toLowerCase();
        name = options.isOfInterest(found) ? found : '';
        nameStart = start;
        nameEnd = end;
        valueBegun = false;
      },
      onattribdata(start, end) {
        if (name === '') return;
        if (!valueBegun) value.begin(start);
        valueBegun = true;
        value.data(source, start, end);
      },
      onattribentity(codePoint) {
        if (name === '') return;
        if (!valueBegun) value.begin(valueStart(source, nameEnd));
        valueBegun = true;
        value.entity(source, codePoint);
      },
      onattribend(quote, end) {
        if (name === '') return;
        const quoted = quote === QuoteType.Double || quote === QuoteType.Single;
        const valueEnd = quoted ? end - 1 : end;
        if (!valueBegun) value.begin(valueEnd);
        const attribute: Attribute = {
          name,
          start: spaceBefore(source, nameStart),
          end,
          value: value.finish(valueEnd),
          layer: quote === QuoteType.Double ? '"' : quote === QuoteType.Single ? "'" : '=',
        };
        const isKnown = tag.attributes.length >= MAX_ATTRIBUTES || tag.attributes.some((each) => each.name === name);
        if (!isKnown) tag.attributes.push(attribute);
        name = '';
      },
      onopentagend(end) {
        openTag(end + 1);
      },
      onselfclosingtag(end) {
        if (options.xml) {
          tag.end = end + 1;
          visitor.tag(tag);
        } else openTag(end + 1);
      },
      onclosetag(start, end) {
        const closing = source.slice(start, end).toLowerCase();
        if (closing === rawTag?.name) closeRaw(start - 2, closingTagEnd(source, end));
        visitor.close(closing, start - 2);
      },
      ontext(start, end) {
        if (rawTag !== undefined) content.data(source, start, end);
      },
      ontextentity(codePoint) {
        if (rawTag !== undefined) content.entity(source, codePoint);
      },
      oncdata(start, end, endOffset) {
        if (rawTag !== undefined) content.data(source, cdataStart(source, start), end - endOffset);
      },
      onprocessinginstruction(start, end) {
        visitor.instruction?.(source.lastIndexOf('<?', start), end + 2);
      },
      oncomment() {},
      ondeclaration() {},
      onend() {
        closeRaw(source.length, source.length);
      },
    },
  );
  tokenizer.write(source);
  tokenizer.end();
}

function valueStart(source: string, nameEnd: number): number {
  let index = nameEnd;
  while (isSpace(source.charCodeAt(index)) || source[index] === '=') index += 1;
  return source[index] === '"' || source[index] === "'" ? index + 1 : index;
}

export function spaceBefore(source: string, index: number): number {
  let start = index;
  while (start > 0 && isSpace(source.charCodeAt(start - 1))) start -= 1;
  return start;
}

function closingTagEnd(source: string, nameEnd: number): number {
  const end = source.indexOf('>', nameEnd);
  return end < 0 ? source.length : end + 1;
}

function cdataStart(source: string, start: number): number {
  return source.startsWith('CDATA[', start) ? start + 'CDATA['.length : start;
}

function isSpace(code: number): boolean {
  return code === 32 || code === 10 || code === 9 || code === 13 || code === 12;
}
