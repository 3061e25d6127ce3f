import { Parser } from 'htmlparser2';
import {
  type Block,
  escapeStarts,
  escapeText,
  fenced,
  type Inline,
  image,
  joined,
  type Table,
  tableText,
  WRAPS,
  wrapped,
} from './markdown-text.ts';

/**
 * A page in Markdown (CommonMark with tables): its main part, or its body without what surrounds the content. One pass over
 * the parser's events, linear in the page's size.
 */

const SKIPPED = new Set(
  'script style template noscript nav svg button select textarea iframe canvas audio video object dialog'.split(' '),
);
/** Left out too if the page has no main part. */
const AROUND = new Set(['header', 'footer', 'aside']);
const LINE_NUMBERS = /(?:^|\s)(?:linenos|gutter|line-numbers)(?:\s|$)/;
const BLOCKS = new Set(
  'address article body center dd details div dl dt figcaption figure fieldset form header footer aside hgroup main p section summary hr h1 h2 h3 h4 h5 h6'.split(
    ' ',
  ),
);
const CODE = new Set(['code', 'kbd', 'samp', 'tt']);
/** Deeper ones add nothing, so that hostile pages take no more time than others. */
const MAX_CONTAINERS = 40;
const MAX_INLINE = 20;
const MAX_DEPTH = 1_000;
const LANGUAGE = /(?:^|\s)(?:language|lang|highlight-source|highlight)-([\w+#.-]+)/;

/** What holds blocks: the page, a quote, an item or a cell. */
type Container = { tag: string; blocks: Block[]; heading: number };
type List = { tag: string; next: number; items: string[] };
/** `isLayout`: a cell holds a block that no cell of a Markdown table can hold. */
type OpenTable = Table & { isLayout: boolean };

/** The Markdown of a page; empty if it has no content. Throws if it is nested too deeply, which takes too long to read. */
export function pageMarkdown(html: string): string {
  const writer = new MarkdownWriter();
  let depth = 0;
  const parser = new Parser({
    onopentag(tag, attributes) {
      depth += 1;
      if (depth > MAX_DEPTH) throw new Error(`its elements are nested deeper than ${MAX_DEPTH}`);
      writer.open(tag, attributes);
    },
    ontext: (text) => writer.text(text),
    onclosetag(tag) {
      depth -= 1;
      writer.close(tag);
    },
  });
  parser.end(html);
  return writer.end();
}

type Attributes = Readonly<Record<string, string>>;

class MarkdownWriter {
  #root: Container = { tag: '', blocks: [], heading: 0 };
  #containers: Container[] = [this.#root];
  #inlines: Inline[] = [];
  #lists: List[] = [];
  #tables: OpenTable[] = [];
  #text = '';
  #code: { text: string; language: string } | undefined;
  /** The language that an element around the next code names. */
  #language = '';
  #title: string | undefined;
  #isTitle = false;
  /** How deep in an element that is left out, and in the main part. */
  #skipDepth = 0;
  #mainDepth = 0;
  #isOver = false;

  open(tag: string, attributes: Attributes): void {
    if (this.#isOver) return;
    if (this.#skipDepth > 0) {
      this.#skipDepth += 1;
      return;
    }
    if (tag === 'title' && this.#title === undefined) [this.#title, this.#isTitle] = ['', true];
    if (this.#isLeftOut(tag, attributes)) {
      this.#skipDepth = 1;
      return;
    }
    if (this.#mainDepth > 0) this.#mainDepth += 1;
    else if (tag === 'main' || attributes.role === 'main') this.#beginMain();
    const language = LANGUAGE.exec(attributes.class ?? '')?.[1] ?? '';
    if (this.#code !== undefined) {
      if (tag === 'br') this.#code.text += '\n';
      else if (tag === 'code') this.#code.language ||= language;
    } else if (tag === 'pre') {
      this.#beginBlock();
      this.#code = { text: '', language: language || this.#language };
    } else if (BLOCKS.has(tag)) {
      if (tag === 'div') this.#language = language;
      this.#openBlock(tag);
    } else if (!this.#openList(tag, attributes) && !this.#openTable(tag)) this.#openInline(tag, attributes);
  }

  #isLeftOut(tag: string, attributes: Attributes): boolean {
    const isHidden = 'hidden' in attributes || attributes['aria-hidden'] === 'true';
    const isAround = this.#mainDepth === 0 && (AROUND.has(tag) || attributes.role === 'navigation');
    return SKIPPED.has(tag) || isHidden || isAround || LINE_NUMBERS.test(attributes.class ?? '');
  }

  /** What came before the main part isn't part of the page's content. */
  #beginMain(): void {
    this.#root.blocks = [];
    this.#containers = [this.#root];
    this.#inlines = [];
    this.#lists = [];
    this.#tables = [];
    this.#text = '';
    this.#mainDepth = 1;
  }

  #openBlock(tag: string): void {
    if (this.#inlines.at(-1)?.tag === 'a') {
      this.#add(' ');
      return;
    }
    this.#flush();
    const level = /^h([1-6])$/.exec(tag)?.[1];
    if (level !== undefined) {
      this.#beginBlock();
      this.#current.heading = Number(level);
    }
    if (tag === 'hr') this.#current.blocks.push({ text: '---' });
  }

  #openList(tag: string, { start = '1' }: Attributes): boolean {
    if (tag === 'ul' || tag === 'ol') {
      this.#beginBlock();
      this.#lists.push({ tag, next: /^\d{1,8}$/.test(start) ? Number(start) : 1, items: [] });
    } else if (tag === 'li') this.#openContainer(tag);
    else if (tag === 'blockquote') {
      this.#beginBlock();
      this.#openContainer(tag);
    } else return false;
    return true;
  }

  #openTable(tag: string): boolean {
    if (tag === 'table') {
      this.#beginBlock();
      this.#tables.push({ rows: [], hasHead: false, isLayout: false });
      return true;
    }
    const table = this.#tables.at(-1);
    if (tag === 'tr') {
      this.#flush();
      table?.rows.push([]);
    } else if (tag === 'td' || tag === 'th') {
      this.#openContainer('cell');
      if (tag === 'th' && table?.rows.length === 1) table.hasHead = true;
    } else return false;
    return true;
  }

  #openInline(tag: string, attributes: Attributes): void {
    const { href } = attributes;
    if (tag === 'br') this.#add(this.#current.tag === 'cell' ? '<br>' : '\\\n');
    else if (tag === 'img') this.#add(image(attributes));
    else if (tag === 'input' && attributes.type === 'checkbox') this.#add('checked' in attributes ? '[x] ' : '[ ] ');
    else if (this.#inlines.length < MAX_INLINE && (tag in WRAPS || CODE.has(tag) || (tag === 'a' && href)))
      this.#inlines.push({ tag, text: '', href });
  }

  text(text: string): void {
    if (this.#isTitle) this.#title += text;
    if (this.#isOver || this.#skipDepth > 0 || this.#isTitle) return;
    if (this.#code !== undefined) this.#code.text += text;
    else if (this.#inlines.some(({ tag }) => CODE.has(tag))) this.#add(text);
    else this.#add(escapeText(text.replace(/[ \t\r\n\f]+/g, ' ')));
  }

  close(tag: string): void {
    if (tag === 'title') this.#isTitle = false;
    if (this.#isOver) return;
    if (this.#skipDepth > 0) {
      this.#skipDepth -= 1;
      return;
    }
    if (this.#mainDepth > 0) {
      this.#mainDepth -= 1;
      this.#isOver = this.#mainDepth === 0;
      if (this.#isOver) this.#endAll();
      if (this.#isOver) return;
    }
    if (this.#code !== undefined) {
      if (tag === 'pre') this.#endCode();
    } else if (BLOCKS.has(tag)) this.#closeBlock();
    else if (tag === 'ul' || tag === 'ol') this.#endList();
    else if (tag === 'li') this.#endItem(this.#closeContainer('li'));
    else if (tag === 'blockquote') this.#endQuote();
    else if (tag === 'td' || tag === 'th')
      this.#tables
        .at(-1)
        ?.rows.at(-1)
        ?.push(this.#closeContainer('cell') ?? []);
    else if (tag === 'table') this.#endTable();
    else if (this.#inlines.at(-1)?.tag === tag) {
      const inline = this.#inlines.pop();
      if (inline !== undefined) this.#add(wrapped(inline));
    }
  }

  end(): string {
    if (!this.#isOver) this.#endAll();
    const { blocks } = this.#root;
    if (blocks.length === 0) return '';
    const name = escapeText((this.#title ?? '').replace(/\s+/g, ' ').trim());
    const head = name === '' || blocks.some(({ text }) => text.startsWith('# ')) ? '' : `# ${name}\n\n`;
    return `${head}${joined(blocks)}\n`;
  }

  get #current(): Container {
    return this.#containers.at(-1) ?? this.#root;
  }

  #add(part: string): void {
    const inline = this.#inlines.at(-1);
    if (inline === undefined) this.#text += part;
    else inline.text += part;
  }

  /** Ends the text before a block that no cell of a table can hold. */
  #beginBlock(): void {
    this.#flush();
    const table = this.#tables.at(-1);
    if (table !== undefined) table.isLayout = true;
  }

  /** Ends a block of text, and the formatting that the block's end interrupts. */
  #flush(): void {
    for (let inline = this.#inlines.pop(); inline !== undefined; inline = this.#inlines.pop())
      this.#add(inline.tag in WRAPS ? inline.text : wrapped(inline));
    const { blocks, heading } = this.#current;
    const spaced = this.#text.replace(/ {2,}/g, ' ').replace(/ ?(\\?\n) ?/g, '$1');
    const lines = spaced.replace(/(?:\\\n){3,}/g, '\\\n\\\n');
    const trimmed = lines.replace(/^(?:\\?\n| )+|(?:\\?\n| )+$/g, '');
    this.#text = '';
    if (trimmed === '') return;
    if (heading === 0) blocks.push({ text: escapeStarts(trimmed) });
    else blocks.push({ text: `${'#'.repeat(heading)} ${trimmed.replace(/\\?\n/g, ' ').replace(/(?<!#)#+$/, '\\$&')}` });
  }

  #closeBlock(): void {
    if (this.#inlines.at(-1)?.tag === 'a') {
      this.#add(' ');
      return;
    }
    this.#flush();
    this.#current.heading = 0;
  }

  #openContainer(tag: string): void {
    this.#flush();
    if (this.#containers.length < MAX_CONTAINERS) this.#containers.push({ tag, blocks: [], heading: 0 });
  }

  #closeContainer(tag: string): Block[] | undefined {
    this.#flush();
    return this.#current.tag === tag ? this.#containers.pop()?.blocks : undefined;
  }

  #endCode(): void {
    if (this.#code !== undefined) this.#current.blocks.push({ text: fenced(this.#code) });
    this.#code = undefined;
  }

  #endQuote(): void {
    const blocks = this.#closeContainer('blockquote') ?? [];
    const text = joined(blocks).replace(/^/gm, '> ').replace(/^> $/gm, '>');
    if (blocks.length > 0) this.#current.blocks.push({ text });
  }

  #endItem(blocks: Block[] = []): void {
    if (blocks.length === 0) return;
    const list = this.#lists.at(-1);
    const marker = list?.tag === 'ol' ? `${list.next}. ` : '- ';
    const text = marker + joined(blocks, true).replace(/\n(?!\n)/g, `\n${' '.repeat(marker.length)}`);
    if (list === undefined) this.#current.blocks.push({ text, isList: true });
    else {
      list.items.push(text);
      list.next += 1;
    }
  }

  #endList(): void {
    this.#flush();
    const { items } = this.#lists.pop() ?? { items: [] };
    if (items.length > 0) this.#current.blocks.push({ text: items.join('\n'), isList: true });
  }

  #endTable(): void {
    this.#flush();
    const table = this.#tables.pop();
    if (table === undefined) return;
    if (table.isLayout) this.#current.blocks.push(...table.rows.flat(2));
    else if (table.rows.length > 0) this.#current.blocks.push({ text: tableText(table) });
  }

  /** Ends what is still open. */
  #endAll(): void {
    this.#endCode();
    this.#flush();
    while (this.#containers.length > 1) {
      const { tag } = this.#current;
      const blocks = this.#closeContainer(tag) ?? [];
      if (tag === 'li') this.#endItem(blocks);
      else this.#current.blocks.push(...blocks);
    }
    while (this.#lists.length > 0) this.#endList();
    while (this.#tables.length > 0) this.#endTable();
  }
}
