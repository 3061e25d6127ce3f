import { Tokenizer } from 'htmlparser2';
import { SpanBuilder, type SpannedText, verbatim } from '../spanned-text.ts';
import {
  type Attribute,
  type AttributeLayer,
  cdataStart,
  MAX_ATTRIBUTES,
  type MarkupVisitor,
  spaceBefore,
  type Tag,
  textLayer,
} from './scan-markup.ts';
import { ForeignTree, isOfTree, StandardTree, TEXT_ONLY, type Tree } from './tree.ts';

const GREATER = 62;
const SLASH = 47;
const EQUALS = 61;
const EXCLAMATION = 33;
const QUESTION = 63;
const DOUBLE_QUOTE = 34;
const SINGLE_QUOTE = 39;

/** Elements after which something other than markup may follow, each with what ends its text. */
const SPECIAL: ReadonlyMap<string, RegExp> = new Map([
  ...[...TEXT_ONLY].map((name) => [name, new RegExp(`</${name}(?=[/>\\t\\n\\f\\r ])`, 'gi')] as const),
  ...['plaintext', 'svg', 'math'].map((name) => [name, /(?!)/g] as const),
]);
const COMMENT_END = /--!?>/g;
/** What changes the state of a script. `-->` may overlap `<!--`. */
const SCRIPT_STATES = /<!(?=--)|-->|<\/?script(?=[/>\t\n\f\r ])/gi;

function isSpace(code: number): boolean {
  return code === 32 || code === 10 || code === 9 || code === 13 || code === 12;
}

function endsName(code: number): boolean {
  return code === GREATER || code === SLASH || isSpace(code);
}

function isLetter(code: number): boolean {
  return (code >= 97 && code <= 122) || (code >= 65 && code <= 90);
}

type Range = { start: number; end: number };

function find(pattern: RegExp, source: string, from: number): Range | undefined {
  pattern.lastIndex = from;
  const found = pattern.exec(source);
  return found === null ? undefined : { start: found.index, end: pattern.lastIndex };
}

/** The `</script` that ends a script which contains `<!--`: one inside of `<!-- <script>` doesn't. */
function findScriptEnd(source: string, from: number): Range | undefined {
  let isEscaped = false;
  let isNested = false;
  SCRIPT_STATES.lastIndex = from;
  for (let found = SCRIPT_STATES.exec(source); found !== null; found = SCRIPT_STATES.exec(source)) {
    const [mark] = found;
    if (mark === '<!') isEscaped = true;
    else if (mark === '-->') isEscaped = isNested = false;
    else if (mark[1] !== '/') isNested = isEscaped;
    else if (isNested) isNested = false;
    else return { start: found.index, end: SCRIPT_STATES.lastIndex };
  }
  return undefined;
}

/** A comment, also in the forms that the standard calls bogus, or a doctype. */
const BEFORE_CONTENT = /<(?:[!?](doctype)?|\/[^a-z])/iy;

type IsOfInterest = (attributeName: string) => boolean;

/**
 * Reads HTML as a browser does: finds the same tags, and skips text, comments and quoted values with native string search.
 * `source` is latin1. The first of a repeated attribute counts.
 *
 * A scanner of our own is worth it: with the tokenizer of `htmlparser2`, reading the manuals of PostgreSQL (1,169 pages)
 * takes 1.6 times as long in a new process and 2 times in a warm one, and Python's manual (530 pages, 51 MB) 1.6 times.
 *
 * Inside `<noscript>`, it reports what a browser without scripts finds there.
 */
export function scanHtml(source: string, isOfInterest: IsOfInterest, visitor: MarkupVisitor): void {
  new HtmlScanner(source, isOfInterest, visitor).scan();
}

/** The offset after the doctype and the comments before it, where the content begins; -1 if one of them never ends. */
export function prologEnd(source: string): number {
  const scanner = new HtmlScanner(source, () => false, UNSEEN);
  let at = source.startsWith('\xef\xbb\xbf') ? 3 : 0;
  for (;;) {
    while (isSpace(source.charCodeAt(at))) at += 1;
    BEFORE_CONTENT.lastIndex = at;
    const isDoctype = BEFORE_CONTENT.exec(source)?.[1] !== undefined;
    if (BEFORE_CONTENT.lastIndex === 0) return at;
    at = scanner.read(at);
    if (isDoctype || at < 0) return at;
  }
}

const UNSEEN: MarkupVisitor = { tag: () => undefined, raw: () => undefined, close: () => undefined };

/** Methods that read from an offset return the next one, or -1 if the document ends first. */
class HtmlScanner {
  private readonly source: string;
  private isOfInterest: IsOfInterest;
  private readonly visitor: MarkupVisitor;
  /** Where it begins to read: in a `<noscript>`, after its tag. */
  private readonly begin: number;
  /** The open elements, if they matter. */
  private tree: Tree | undefined;
  private isSelfClosing = false;
  private foreignTextEnd = 0;

  constructor(source: string, isOfInterest: IsOfInterest, visitor: MarkupVisitor, begin = 0, tree?: Tree) {
    this.source = source;
    this.isOfInterest = isOfInterest;
    this.visitor = visitor;
    this.begin = begin;
    this.tree = tree;
  }

  /** Reads all tags before an offset. */
  scan(until = this.source.length): number {
    const { source } = this;
    let at = source.indexOf('<', this.begin);
    while (at >= 0 && at < until) {
      const next = this.read(at);
      at = next < 0 ? -1 : source.indexOf('<', next);
    }
    return at;
  }

  /** Reads the tag, comment or declaration that begins with this `<`. */
  read(at: number): number {
    const code = this.source.charCodeAt(at + 1);
    if (isLetter(code)) return this.openingTag(at);
    if (code === SLASH) return this.closingTag(at);
    if (code !== EXCLAMATION) return code === QUESTION ? this.after('>', at + 2) : at + 1;
    if (this.source.startsWith('--', at + 2)) return this.comment(at + 4);
    const isCdata = this.tree?.allowsCdata && this.source.startsWith('[CDATA[', at + 2);
    return isCdata ? this.after(']]>', at + 9) : this.after('>', at + 2);
  }

  private after(text: string, from: number): number {
    const found = this.source.indexOf(text, from);
    return found < 0 ? -1 : found + text.length;
  }

  private comment(start: number): number {
    if (this.source.startsWith('>', start)) return start + 1;
    if (this.source.startsWith('->', start)) return start + 2;
    return find(COMMENT_END, this.source, start)?.end ?? -1;
  }

  private closingTag(at: number): number {
    const { source } = this;
    const code = source.charCodeAt(at + 2);
    if (!isLetter(code)) return code === GREATER ? at + 3 : this.after('>', at + 2);
    const nameEnd = this.nameEnd(at + 2);
    const end = nameEnd < 0 ? -1 : this.attributes(nameEnd, undefined);
    if (end < 0) return -1;
    const name = source.slice(at + 2, nameEnd).toLowerCase();
    if (this.tree?.close(name) === false) return this.readByStandard(at);
    if (this.tree?.isLeft) this.tree = undefined;
    this.visitor.close(name, at);
    return end;
  }

  private openingTag(start: number): number {
    const nameEnd = this.nameEnd(start + 1);
    if (nameEnd < 0) return -1;
    const name = this.source.slice(start + 1, nameEnd).toLowerCase();
    const attributes: Attribute[] = [];
    const end = this.attributes(nameEnd, attributes);
    if (end < 0) return -1;
    const tag = { name, start, nameEnd, end, attributes };
    const textEnd = SPECIAL.get(name);
    if (textEnd === undefined && this.tree === undefined) {
      this.visitor.tag(tag);
      return end;
    }
    const content = this.open(tag);
    if (content === undefined) return this.readByStandard(start);
    this.visitor.tag(tag);
    if (content === 'text') return this.text(tag, textEnd ?? /(?!)/g);
    if (textEnd !== undefined && (name === 'script' || name === 'style')) this.foreignText(tag, textEnd);
    return end;
  }

  /** What follows an opening tag; undefined if that depends on the whole document. */
  private open(tag: Tag): 'text' | 'markup' | undefined {
    const { name } = tag;
    if (name === 'noscript' && this.begin > 0) return 'markup';
    if (this.tree !== undefined) return this.tree.open(tag, this.isSelfClosing);
    // Browsers ignore it in some places.
    if (name === 'plaintext') return undefined;
    if (name !== 'svg' && name !== 'math') return 'text';
    if (!this.isSelfClosing) this.tree = new ForeignTree(name);
    return 'markup';
  }

  /** Reads on as the standard says for the whole document: builds its tree up to here. */
  private readByStandard(at: number): number {
    const again = new HtmlScanner(this.source, isOfTree, UNSEEN, this.begin, new StandardTree());
    const next = again.scan(at);
    const { isOfInterest } = this;
    this.isOfInterest = (name) => isOfInterest(name) || isOfTree(name);
    this.tree = again.tree;
    return next;
  }

  private text(tag: Tag, textEnd: RegExp): number {
    const { source, visitor } = this;
    const found = this.findEnd(tag, textEnd);
    const contentEnd = found?.start ?? source.length;
    const next = found === undefined ? -1 : this.attributes(found.end, undefined);
    if (tag.name === 'script' || tag.name === 'style') {
      visitor.raw(tag, verbatim(source, tag.end, contentEnd), next < 0 ? source.length : next, '');
    } else if (tag.name === 'noscript') {
      new HtmlScanner(source.slice(0, contentEnd), this.isOfInterest, visitor, tag.end).scan();
    }
    if (found === undefined || next < 0) {
      if (tag.name !== 'noscript' && this.begin === 0) visitor.unclosed?.(tag);
      return -1;
    }
    visitor.close(tag.name, found.start);
    this.tree?.close(tag.name);
    return next;
  }

  private findEnd({ name, end }: Tag, textEnd: RegExp): Range | undefined {
    const found = find(textEnd, this.source, end);
    const isEscaped = name === 'script' && this.source.slice(end, found?.start).includes('<!--');
    return isEscaped ? findScriptEnd(this.source, end) : found;
  }

  /** Reports the content of a `<script>` or `<style>` in SVG: text with entities, and possibly with tags. */
  private foreignText(tag: Tag, textEnd: RegExp): void {
    const { source, visitor, isSelfClosing } = this;
    if (tag.start < this.foreignTextEnd) return;
    const found = isSelfClosing ? undefined : find(textEnd, source, tag.end);
    const contentEnd = isSelfClosing ? tag.end : (found?.start ?? source.length);
    const next = found === undefined ? contentEnd : this.attributes(found.end, undefined);
    const content = decoded(source, tag.end, contentEnd);
    visitor.raw(tag, content, next < 0 ? source.length : next, textLayer(source, tag.end));
    this.foreignTextEnd = contentEnd;
  }

  private nameEnd(from: number): number {
    const { source } = this;
    let at = from;
    while (at < source.length && !endsName(source.charCodeAt(at))) at += 1;
    return at < source.length ? at : -1;
  }

  /** Collects attributes of interest and returns the end of the tag. */
  private attributes(from: number, into: Attribute[] | undefined): number {
    const { source } = this;
    let at = from;
    let slashAt = -1;
    while (at < source.length) {
      const code = source.charCodeAt(at);
      if (code === GREATER) {
        this.isSelfClosing = slashAt === at - 1;
        return at + 1;
      }
      if (code === SLASH || isSpace(code)) {
        if (code === SLASH) slashAt = at;
        at += 1;
        continue;
      }
      const start = at;
      do at += 1;
      while (at < source.length && source.charCodeAt(at) !== EQUALS && !endsName(source.charCodeAt(at)));
      const nameEnd = at;
      at = this.afterSpace(at);
      if (source.charCodeAt(at) !== EQUALS) {
        if (at < source.length) this.add(into, start, nameEnd, nameEnd, nameEnd, '=');
        continue;
      }
      at = this.afterSpace(at + 1);
      const quote = source.charCodeAt(at);
      if (quote === DOUBLE_QUOTE || quote === SINGLE_QUOTE) {
        const layer = quote === DOUBLE_QUOTE ? '"' : "'";
        const valueEnd = source.indexOf(layer, at + 1);
        if (valueEnd < 0) return -1;
        this.add(into, start, nameEnd, at + 1, valueEnd, layer);
        at = valueEnd + 1;
      } else {
        const valueStart = at;
        while (at < source.length && source.charCodeAt(at) !== GREATER && !isSpace(source.charCodeAt(at))) at += 1;
        this.add(into, start, nameEnd, valueStart, at, '=');
      }
    }
    return -1;
  }

  private afterSpace(from: number): number {
    let at = from;
    while (isSpace(this.source.charCodeAt(at))) at += 1;
    return at;
  }

  private add(
    into: Attribute[] | undefined,
    start: number,
    nameEnd: number,
    valueStart: number,
    valueEnd: number,
    layer: AttributeLayer,
  ): void {
    if (into === undefined) return;
    const { source } = this;
    const name = source.slice(start, nameEnd).toLowerCase();
    if (name === 'id') this.visitor.id?.(this.value(valueStart, valueEnd, layer));
    if (!this.isOfInterest(name) || into.length >= MAX_ATTRIBUTES || into.some((each) => each.name === name)) return;
    const end = layer === '=' ? valueEnd : valueEnd + 1;
    into.push({ name, start: spaceBefore(source, start), end, value: this.value(valueStart, valueEnd, layer), layer });
  }

  private value(start: number, end: number, layer: AttributeLayer): SpannedText {
    const plain = verbatim(this.source, start, end);
    if (!plain.text.includes('&') && !plain.text.includes('\0')) return plain;
    const quote = layer === '=' ? '' : layer;
    return decoded(this.source, start, end, [`<a a=${quote}`, `${quote}>`]);
  }
}

/**
 * Decodes a part of the document by HTML's rules: a text, or an attribute's value if `around` makes it one. A NUL byte is
 * U+FFFD, as in browsers.
 */
function decoded(source: string, start: number, end: number, [before, after] = ['', '']): SpannedText {
  const shift = start - before.length;
  const span = new SpanBuilder();
  span.begin(start);
  const data = (from: number, to: number): void => {
    const parts = source.slice(from + shift, to + shift).split('\0');
    let at = from + shift;
    for (const [index, part] of parts.entries()) {
      if (index > 0) span.entity(source, 0xfffd);
      if (index > 0) at += 1;
      span.data(source, at, at + part.length);
      at += part.length;
    }
  };
  const entity = (codePoint: number): void => span.entity(source, codePoint);
  const ignore = (): void => undefined;
  const tokenizer = new Tokenizer(
    { xmlMode: false, decodeEntities: true },
    {
      onattribdata: data,
      onattribentity: entity,
      ontext: data,
      ontextentity: entity,
      oncdata: (from, to, endOffset) => data(cdataStart(source, from + shift) - shift, to - endOffset),
      isInForeignContext: () => true,
      onattribend: ignore,
      onattribname: ignore,
      onclosetag: ignore,
      oncomment: ignore,
      ondeclaration: ignore,
      onend: ignore,
      onopentagend: ignore,
      onopentagname: ignore,
      onprocessinginstruction: ignore,
      onselfclosingtag: ignore,
    },
  );
  tokenizer.write(`${before}${source.slice(start, end)}${after}`);
  tokenizer.end();
  return span.finish(end);
}
