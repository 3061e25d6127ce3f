import { QuoteType, Tokenizer, type TokenizerCallbacks } from 'htmlparser2';
import { SpanBuilder, type SpannedText } from '../spanned-text.ts';

/** An attribute of interest. `start` to `end` includes the space before its name and its quotes. */
export type Attribute = { name: string; start: number; end: number; value: SpannedText; layer: AttributeLayer };

/** Bounds the duplicate check, which is quadratic for hostile tags. */
export const MAX_ATTRIBUTES = 200;

/** How the value is quoted (`splice.ts`). */
export type AttributeLayer = '"' | "'" | '=';

/** An opening tag: `start` at `<`, `nameEnd` after the name, `end` after `>`. Names are in lower case. */
export type Tag = { name: string; start: number; nameEnd: number; end: number; attributes: readonly Attribute[] };

export type MarkupVisitor = {
  tag(tag: Tag): void;
  /** The value of an `id`, which is no attribute of interest. */
  id?(value: SpannedText): void;
  /** The content of a `<script>` or `<style>`, which `layer` escapes (`splice.ts`). `end` is after the closing tag. */
  raw(tag: Tag, content: SpannedText, end: number, layer: '' | 'x'): void;
  /** The document ends inside this element, whose content is text, so that tags after it are not read. */
  unclosed?(tag: Tag): void;
  /** A closing tag; `start` at `<`. */
  close(name: string, start: number): void;
  /** A processing instruction, from `<` to `>`. */
  instruction?(start: number, end: number): void;
};

type ScanOptions = {
  isOfInterest: (attributeName: string) => boolean;
  /** Elements whose text is reported, in addition to `<script>` and `<style>`. */
  hasText?: (tagName: string) => boolean;
};

/**
 * Reads XML, including broken tags, odd quotes and unknown names (`scanHtml` reads HTML). `source` is latin1. The first of
 * a repeated attribute counts, as in browsers.
 */
export function scanMarkup(source: string, options: ScanOptions, visitor: MarkupVisitor): void {
  const tokenizer = new Tokenizer(
    { xmlMode: true, decodeEntities: true, recognizeSelfClosing: true },
    new TagAssembler(source, options, visitor),
  );
  tokenizer.write(source);
  tokenizer.end();
}

/** Assembles tags and their content from the tokenizer's events. */
class TagAssembler implements TokenizerCallbacks {
  private readonly source: string;
  private readonly options: ScanOptions;
  private readonly visitor: MarkupVisitor;
  private readonly value = new SpanBuilder();
  private readonly content = new SpanBuilder();
  private current: Tag & { attributes: Attribute[] } = { name: '', start: 0, nameEnd: 0, end: 0, attributes: [] };
  private rawTag: Tag | undefined;
  /** The attribute being read; empty if it isn't of interest. */
  private name = '';
  private nameStart = 0;
  private nameEnd = 0;
  private valueBegun = false;

  constructor(source: string, options: ScanOptions, visitor: MarkupVisitor) {
    this.source = source;
    this.options = options;
    this.visitor = visitor;
  }

  onopentagname(start: number, end: number): void {
    const name = this.source.slice(start, end).toLowerCase();
    this.current = { name, start: start - 1, nameEnd: end, end, attributes: [] };
  }

  onattribname(start: number, end: number): void {
    const found = this.source.slice(start, end).toLowerCase();
    this.name = found === 'id' || this.options.isOfInterest(found) ? found : '';
    this.nameStart = start;
    this.nameEnd = end;
    this.valueBegun = false;
  }

  onattribdata(start: number, end: number): void {
    if (this.name === '') return;
    if (!this.valueBegun) this.value.begin(start);
    this.valueBegun = true;
    this.value.data(this.source, start, end);
  }

  onattribentity(codePoint: number): void {
    if (this.name === '') return;
    if (!this.valueBegun) this.value.begin(valueStart(this.source, this.nameEnd));
    this.valueBegun = true;
    this.value.entity(this.source, codePoint);
  }

  onattribend(quote: QuoteType, end: number): void {
    const { name } = this;
    if (name === '') return;
    const quoted = quote === QuoteType.Double || quote === QuoteType.Single;
    const valueEnd = quoted ? end - 1 : end;
    if (!this.valueBegun) this.value.begin(valueEnd);
    const attribute: Attribute = {
      name,
      start: spaceBefore(this.source, this.nameStart),
      end,
      value: this.value.finish(valueEnd),
      layer: quote === QuoteType.Double ? '"' : quote === QuoteType.Single ? "'" : '=',
    };
    if (name === 'id') this.visitor.id?.(attribute.value);
    const { attributes } = this.current;
    const isKnown = attributes.length >= MAX_ATTRIBUTES || attributes.some((each) => each.name === name);
    if (!isKnown && this.options.isOfInterest(name)) attributes.push(attribute);
    this.name = '';
  }

  onopentagend(end: number): void {
    this.openTag(end + 1);
  }

  onselfclosingtag(end: number): void {
    this.current.end = end + 1;
    this.visitor.tag(this.current);
  }

  onclosetag(start: number, end: number): void {
    const closing = this.source.slice(start, end).toLowerCase();
    if (closing === this.rawTag?.name) this.closeRaw(start - 2, closingTagEnd(this.source, end));
    this.visitor.close(closing, start - 2);
  }

  ontext(start: number, end: number): void {
    if (this.rawTag !== undefined) this.content.data(this.source, start, end);
  }

  ontextentity(codePoint: number): void {
    if (this.rawTag !== undefined) this.content.entity(this.source, codePoint);
  }

  oncdata(start: number, end: number, endOffset: number): void {
    if (this.rawTag !== undefined) this.content.data(this.source, cdataStart(this.source, start), end - endOffset);
  }

  onprocessinginstruction(start: number, end: number): void {
    this.visitor.instruction?.(this.source.lastIndexOf('<?', start), end + 2);
  }

  oncomment(): void {}

  ondeclaration(): void {}

  onend(): void {
    this.closeRaw(this.source.length, this.source.length);
  }

  private openTag(end: number): void {
    const { current, options } = this;
    current.end = end;
    this.visitor.tag(current);
    if (current.name !== 'script' && current.name !== 'style' && !options.hasText?.(current.name)) return;
    this.rawTag = current;
    this.content.begin(end);
  }

  private closeRaw(contentEnd: number, end: number): void {
    if (this.rawTag === undefined) return;
    const closed = this.rawTag;
    this.rawTag = undefined;
    this.visitor.raw(closed, this.content.finish(contentEnd), end, textLayer(this.source, closed.end));
  }
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

const CDATA = /\s*<!\[CDATA\[/y;

/** How the text after a tag is escaped: not at all in a CDATA section. */
export function textLayer(source: string, start: number): '' | 'x' {
  CDATA.lastIndex = start;
  return CDATA.test(source) ? '' : 'x';
}

export function cdataStart(source: string, start: number): number {
  return source.startsWith('CDATA[', start) ? start + 'CDATA['.length : start;
}

function isSpace(code: number): boolean {
  return code === 32 || code === 10 || code === 9 || code === 13 || code === 12;
}
