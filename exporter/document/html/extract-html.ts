import type { ResourceKind } from '../../urls/identity.ts';
import { metaForbidsFollowing } from '../../urls/robots.ts';
import { isLookedAt, mayBeInHead } from '../charset.ts';
import type { Collector } from '../collector.ts';
import { extractCss, PAINTS } from '../css/extract-css.ts';
import { probeLiterals } from '../javascript/extract-script.ts';
import type { SpannedText } from '../spanned-text.ts';
import { referValue } from '../values.ts';
import {
  acceptsNames,
  isCustomElementUrl,
  isEventHandler,
  isLazyUrl,
  isOfInterest,
  isUndefined,
  kindsOf,
  originPlace,
  parseSrcset,
  SRCSETS,
} from './attributes.ts';
import { readLinkElement, readMeta, readScriptContent, readScriptTag } from './elements.ts';
import { prologEnd, scanHtml } from './scan-html.ts';
import { type Attribute, type MarkupVisitor, scanMarkup, type Tag } from './scan-markup.ts';
import { TagReader } from './tag-reader.ts';

const BYTE_ORDER_MARK = '\xef\xbb\xbf';
/** Links that a crawler may choose not to follow. A frame is part of the page, so `nofollow` doesn't apply to it. */
const LINKS: ReadonlySet<string> = new Set(['a', 'area']);
const FRAMES: ReadonlySet<string> = new Set(['iframe', 'frame']);
const SCRIPT_URL = /^\s*javascript:/i;
const NOFOLLOW = /(?:^|\s)nofollow(?:\s|$)/i;

/** The limit for nested `srcdoc` documents. Each level escapes the next, so real pages don't nest deeper. */
const MAX_DEPTH = 3;

/** Reads HTML (or XHTML, with `xml`). `source` is latin1. */
export function extractHtml(source: string, xml: boolean, collector: Collector, depth = 0): void {
  const visitor = new HtmlVisitor(collector, depth);
  if (xml) scanMarkup(source, { isOfInterest }, visitor);
  else scanHtml(source, isOfInterest, visitor);
  visitor.finish(source, xml);
}

class HtmlVisitor implements MarkupVisitor {
  private readonly collector: Collector;
  private readonly depth: number;
  private hasBase = false;
  private isInHead = true;
  private hasCharset = false;
  private headEnd: number | undefined;
  private htmlEnd: number | undefined;
  private bodyEnd: number | undefined;

  constructor(collector: Collector, depth: number) {
    this.collector = collector;
    this.depth = depth;
  }

  tag(tag: Tag): void {
    if (this.isInHead) this.isInHead = mayBeInHead(tag.name);
    if (tag.name === 'head') this.headEnd ??= tag.end;
    else if (tag.name === 'html') this.htmlEnd ??= tag.end;
    if (tag.attributes.length === 0 && tag.name !== 'script') return;
    const reader = new TagReader(tag, this.collector);
    this.element(reader);
    for (const attribute of tag.attributes) this.attribute(reader, attribute);
  }

  id({ text }: SpannedText): void {
    if (this.depth === 0) this.collector.anchors.addId(text);
  }

  raw(tag: Tag, content: SpannedText, end: number, layer: '' | 'x'): void {
    if (tag.name === 'style') extractCss(content, layer, this.collector);
    else readScriptContent(new TagReader(tag, this.collector), content, end);
  }

  unclosed({ name, start }: Tag): void {
    this.collector.incomplete = `its <${name}> at byte ${start} is never closed, so all that follows is text`;
  }

  close(name: string, start: number): void {
    if (name === 'body') this.bodyEnd = start;
  }

  finish(source: string, xml: boolean): void {
    this.collector.mentionProperties();
    const head = this.headEnd ?? this.htmlEnd ?? prologEnd(source);
    // A page of nothing but a comment shows nothing, and a tag before the comment would move it.
    if (head < 0) return;
    const isUndeclared = !xml && !this.hasCharset && !source.startsWith(BYTE_ORDER_MARK);
    // A static host may send no charset, so a charset from the header must be declared in the file.
    const isLegacy = this.collector.charset !== undefined;
    if (isUndeclared && (isLegacy || /[\x80-\xff]/.test(source))) this.collector.mark(head, head, 'charset');
    this.collector.mark(head, head, 'head');
    const end = this.bodyEnd ?? source.length;
    this.collector.mark(end, end, 'body-end');
  }

  private element(reader: TagReader): void {
    switch (reader.tag.name) {
      case 'link':
        readLinkElement(reader);
        break;
      case 'script':
        readScriptTag(reader);
        break;
      case 'meta':
        if (reader.markDeclaration() && isLookedAt(reader.tag, this.isInHead)) this.hasCharset = true;
        if (metaForbidsFollowing(reader.value('name'), reader.value('content'))) this.collector.follows = false;
        readMeta(reader);
        break;
      case 'base':
        if (!this.hasBase && reader.has('href')) {
          this.hasBase = true;
          this.collector.setBase(reader.value('href'));
          reader.mark('href', 'base', this.collector.currentBase);
        } else reader.mark('href', 'base');
        break;
      case 'form':
        reader.refer('action', /^post$/i.test(reader.value('method')) ? 'endpoint' : this.linkKind(reader));
        break;
    }
  }

  private linkKind(reader: TagReader): ResourceKind {
    const follows = this.collector.follows && !NOFOLLOW.test(reader.value('rel'));
    return follows ? 'page' : 'unfollowed';
  }

  private attribute(reader: TagReader, attribute: Attribute): void {
    const { name, value, layer } = attribute;
    const element = reader.tag.name;
    if (this.collector.namesOrigin) this.markOrigin(name, value);
    const known = kindsOf(element)[name] ?? (name === 'href' && element.includes('-') ? 'page' : undefined);
    const kind = known === 'page' && LINKS.has(element) ? this.linkKind(reader) : known;
    if (kind !== undefined) {
      const resource = reader.referAttribute(attribute, kind, element === 'astro-island' ? 'm' : '');
      if (kind === 'asset') reader.markGuards(resource);
      else if (LINKS.has(element) && this.depth === 0) this.anchorLink(value.text, resource);
      if (FRAMES.has(element) && resource !== undefined && this.collector.isOnSite(resource)) {
        this.collector.giveCharset(resource);
      }
    } else if (name === 'name' && element === 'a') {
      this.id(value);
    } else if (name === 'style' || PAINTS.has(name)) {
      extractCss(value, layer, this.collector);
    } else if (SRCSETS.has(name)) {
      for (const { from, to } of parseSrcset(value.text)) {
        this.collector.refer({ span: value, from, to, layers: `,${layer}` }, 'asset');
      }
    } else if (name === 'srcdoc' && element === 'iframe') {
      this.nested(attribute);
    } else if (name === 'ping' || name === 'attributionsrc') {
      reader.mark(name, 'ping');
    } else if (isEventHandler(name)) {
      reader.mark(name, 'handler');
      probeLiterals(value.text, this.collector, 'guess');
    } else if (isLazyUrl(name, value.text) || isCustomElementUrl(element, name, value.text)) {
      reader.referAttribute(attribute, 'asset');
    } else if (isUndefined(element, name)) {
      referValue(value, layer, acceptsNames(name), this.collector);
    }
  }

  /** A link without a resource leads to the page itself, or to what isn't fetched. */
  private anchorLink(text: string, resource: number | undefined): void {
    const hash = text.indexOf('#');
    if (hash < 0 || (resource === undefined ? text.slice(0, hash).trim() !== '' : !this.collector.isOnSite(resource)))
      return;
    this.collector.anchors.addLink(resource, text.slice(hash + 1).trimEnd());
  }

  private markOrigin(name: string, value: SpannedText): void {
    const place = SCRIPT_URL.test(value.text) ? undefined : originPlace(name);
    if (place === undefined || (name === 'srcdoc' && this.depth < MAX_DEPTH)) return;
    this.collector.markOrigin(value, place);
    if (place === 'whole') this.collector.markOrigin(value, 'quoted');
  }

  private nested({ value, layer }: Attribute): void {
    if (this.depth >= MAX_DEPTH) return;
    const inner = this.collector.nested();
    extractHtml(value.text, false, inner, this.depth + 1);
    this.collector.adopt(inner, value, layer);
  }
}
