import { type DefaultTreeAdapterTypes, html, Parser, Token, TokenizerMode } from 'parse5';
import type { Tag } from './scan-markup.ts';

/** What the elements that are open say about the next tag: the same name can begin text or markup. */
export type Tree = {
  /** Opens an element. Its content is text up to its closing tag, or markup; undefined if this tree can't say. */
  open(tag: Tag, isSelfClosing: boolean): 'text' | 'markup' | undefined;
  /** Closes an element. False if this tree can't say which one. */
  close(name: string): boolean;
  /** Whether `<![CDATA[` begins text here. In HTML it begins a comment. */
  readonly allowsCdata: boolean;
  /** Whether the elements that are open no longer matter. */
  readonly isLeft: boolean;
};

type Namespace = 'html' | 'svg' | 'math';

/** Elements in which HTML follows, although they are not HTML. `annotation-xml` depends on an attribute. */
const INTEGRATION_POINTS: Readonly<Record<Namespace, ReadonlySet<string>>> = {
  html: new Set(),
  svg: new Set(['foreignobject', 'desc', 'title']),
  math: new Set(['mi', 'mo', 'mn', 'ms', 'mtext']),
};
const NEVER_HTML: ReadonlySet<string> = new Set(['mglyph', 'malignmark']);

/** Elements of HTML that hold only text. */
export const TEXT_ONLY = named('script style title textarea iframe noembed noframes noscript xmp');
const VOID = named(
  'area base basefont bgsound br col embed frame hr image img input keygen link meta param source track wbr',
);
/** HTML that ends SVG and MathML, and what depends on attributes. */
const ODD_IN_FOREIGN = named(
  `b big blockquote body br center code dd div dl dt em embed h1 h2 h3 h4 h5 h6 head hr i img li listing menu meta nobr ol p
  pre ruby s small span strong strike sub sup table tt u ul var font annotation-xml`,
);
/** HTML that may close elements outside of the SVG. */
const ODD_IN_HTML = named('html head body frameset plaintext caption col colgroup tbody td tfoot th thead tr');

function named(names: string): ReadonlySet<string> {
  return new Set(names.split(/\s+/));
}

/**
 * The open elements from an `<svg>` or `<math>` on, as long as each closing tag fits. For broken markup, a browser's rules
 * depend on the whole document: that is for `StandardTree`.
 */
export class ForeignTree implements Tree {
  private readonly names: string[] = [];
  private readonly namespaces: Namespace[] = [];

  constructor(name: 'svg' | 'math') {
    this.push(name, name);
  }

  open({ name }: Tag, isSelfClosing: boolean): 'text' | 'markup' | undefined {
    const namespace = this.namespaces.at(-1) ?? 'html';
    const isPoint = INTEGRATION_POINTS[namespace].has(this.names.at(-1) ?? '');
    if (namespace !== 'html' && !(isPoint && (namespace === 'svg' || !NEVER_HTML.has(name)))) {
      if (ODD_IN_FOREIGN.has(name)) return undefined;
      if (!isSelfClosing) this.push(name, namespace);
      return 'markup';
    }
    if (ODD_IN_HTML.has(name)) return undefined;
    if (TEXT_ONLY.has(name)) return 'text';
    if (name !== 'svg' && name !== 'math') {
      if (!VOID.has(name)) this.push(name, 'html');
    } else if (!isSelfClosing) this.push(name, name);
    return 'markup';
  }

  close(name: string): boolean {
    const { names, namespaces } = this;
    if (namespaces.at(-1) !== 'html' && (name === 'p' || name === 'br')) return false;
    let at = names.length - 1;
    while (namespaces.at(-1) !== 'html' && names[at] !== name && at > 0 && namespaces[at - 1] !== 'html') at -= 1;
    if (names[at] !== name) return false;
    names.length = at;
    namespaces.length = at;
    return true;
  }

  get allowsCdata(): boolean {
    return this.namespaces.at(-1) !== 'html';
  }

  get isLeft(): boolean {
    return this.names.length === 0;
  }

  private push(name: string, namespace: Namespace): void {
    this.names.push(name);
    this.namespaces.push(namespace);
  }
}

/** The attributes that decide about the tree. */
const TREE_ATTRIBUTES: ReadonlySet<string> = new Set(['encoding', 'color', 'face', 'size']);

export function isOfTree(attributeName: string): boolean {
  return TREE_ATTRIBUTES.has(attributeName);
}

/** A browser's own limit. The time that the parser needs for a tag grows with the depth. */
const MAX_DEPTH = 512;

/** The whole document's tree as the HTML standard builds it. Needs all tags from the start. */
export class StandardTree implements Tree {
  readonly isLeft = false;
  private readonly parser = new Parser<DefaultTreeAdapterTypes.DefaultTreeAdapterMap>();
  private isTooDeep = false;

  open({ name, attributes }: Tag, isSelfClosing: boolean): 'text' | 'markup' {
    this.isTooDeep ||= this.parser.openElements.stackTop > MAX_DEPTH;
    if (this.isTooDeep) return TEXT_ONLY.has(name) ? 'text' : 'markup';
    const attrs = attributes
      .filter((each) => isOfTree(each.name))
      .map((each) => ({ name: each.name, value: each.value.text }));
    const { tokenizer } = this.parser;
    tokenizer.state = TokenizerMode.DATA;
    this.parser.onStartTag({ ...tagToken(Token.TokenType.START_TAG, name), attrs, selfClosing: isSelfClosing });
    return tokenizer.state === TokenizerMode.DATA ? 'markup' : 'text';
  }

  close(name: string): true {
    if (!this.isTooDeep) this.parser.onEndTag(tagToken(Token.TokenType.END_TAG, name));
    return true;
  }

  get allowsCdata(): boolean {
    const { current } = this.parser.openElements;
    const isElement = current != null && 'namespaceURI' in current;
    return !this.isTooDeep && isElement && current.namespaceURI !== html.NS.HTML;
  }
}

function tagToken<Type extends Token.TagToken['type']>(type: Type, tagName: string) {
  const tagID = html.getTagID(tagName);
  return { type, tagName, tagID, selfClosing: false, ackSelfClosing: false, attrs: [], location: null };
}
