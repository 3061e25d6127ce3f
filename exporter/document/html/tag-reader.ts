import type { ResourceKind } from '../../urls/identity.ts';
import { declaredLabel } from '../charset.ts';
import type { Collector } from '../collector.ts';
import { decodeBytes, rawOffset } from '../spanned-text.ts';
import type { MarkKind } from '../types.ts';
import type { Attribute, Tag } from './scan-markup.ts';

/** One tag and its collector, for the readers of all elements. */
export class TagReader {
  readonly tag: Tag;
  readonly collector: Collector;

  constructor(tag: Tag, collector: Collector) {
    this.tag = tag;
    this.collector = collector;
  }

  attribute(name: string): Attribute | undefined {
    return this.tag.attributes.find((each) => each.name === name);
  }

  has(name: string): boolean {
    return this.attribute(name) !== undefined;
  }

  /** An attribute's decoded value, trimmed; empty if the attribute is missing. */
  value(name: string): string {
    const attribute = this.attribute(name);
    return attribute === undefined ? '' : decodeBytes(attribute.value.text).trim();
  }

  /** Adds a reference for a whole attribute; undefined if it is missing or holds no URL. */
  refer(name: string, kind: ResourceKind, innerLayers = ''): number | undefined {
    const attribute = this.attribute(name);
    return attribute && this.referAttribute(attribute, kind, innerLayers);
  }

  referAttribute({ value, layer }: Attribute, kind: ResourceKind, innerLayers = ''): number | undefined {
    const place = { span: value, from: 0, to: value.text.length, layers: innerLayers + layer };
    return this.collector.refer(place, kind);
  }

  /** Marks a whole attribute, if present. */
  mark(name: string, kind: MarkKind, note?: string | number): void {
    const attribute = this.attribute(name);
    if (attribute !== undefined) this.collector.mark(attribute.start, attribute.end, kind, note);
  }

  /** Marks an attribute's value. */
  markValue(name: string, kind: MarkKind, note: string | number): void {
    const attribute = this.attribute(name);
    if (attribute === undefined) return;
    const quote = attribute.layer === '=' ? 0 : 1;
    this.collector.mark(attribute.end - quote - rawLength(attribute), attribute.end - quote, kind, note);
  }

  /** Marks the charset that a `<meta>` declares for the document. Returns whether it declares one. */
  markDeclaration(): boolean {
    const label = declaredLabel(this.tag);
    if (label === undefined || label.text.trim() === '') return false;
    const { attribute, from, text } = label;
    const place = [rawOffset(attribute.value, from), rawOffset(attribute.value, from + text.length)] as const;
    if (!/^utf-?8$/i.test(text)) this.collector.mark(...place, 'label');
    return true;
  }

  /** Says that the element loads a text. Marks its `charset` attribute, because files in the bundle are in UTF-8. */
  readCharset(resource: number | undefined): void {
    this.collector.giveCharset(resource, this.value('charset'));
    if (resource === undefined || /^(?:|utf-?8)$/i.test(this.value('charset'))) return;
    this.markValue('charset', 'label', resource);
  }

  /** Integrity and CORS attributes would block a file that the bundle serves itself. */
  markGuards(resource: number | undefined): void {
    if (resource === undefined) return;
    this.mark('integrity', 'integrity', resource);
    this.mark('crossorigin', 'crossorigin', resource);
  }
}

function rawLength({ value, end, layer }: Attribute): number {
  return end - (layer === '=' ? 0 : 1) - value.start;
}
