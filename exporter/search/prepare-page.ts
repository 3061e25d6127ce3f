import { Parser } from 'htmlparser2';

/** What a page says about itself. Texts are without white space at their ends. */
export type PageFacts = {
  /** Of `<html>`, in lower case; empty if it has none. */
  language: string;
  title: string;
  /** Its first `<h1>`. */
  heading: string;
  /** It only leads to another page. */
  isRedirect: boolean;
};

export type PreparedPage = PageFacts & { html: string };

type Found = {
  language: string;
  title: string | undefined;
  heading: string | undefined;
  isRedirect: boolean;
  isMarked: boolean;
  main: Tag | undefined;
  body: Tag | undefined;
};

/** Where the name of an opening tag ends, and where the tag does. */
type Tag = { nameEnd: number; end: number };

/**
 * Makes a page ready for Pagefind. Its main part is indexed, or all of its body, unless it says itself what to index. Its
 * title counts most, because many pages have no other heading that names them.
 */
export function preparePage(html: string): PreparedPage {
  const found = read(html);
  const heading = squeeze(found.heading ?? '');
  const title = squeeze(found.title ?? '') || heading;
  const facts = { language: found.language, title, heading, isRedirect: found.isRedirect };
  const tag = found.main ?? found.body;
  if (tag === undefined) return { ...facts, html: `<html><body data-pagefind-body>${titleElement(title)}${html}` };
  // `data-pagefind-body` anywhere on a site leaves out the pages without it, so every page has it.
  const mark = found.isMarked ? '' : ' data-pagefind-body';
  const { nameEnd, end } = tag;
  return {
    ...facts,
    html: html.slice(0, nameEnd) + mark + html.slice(nameEnd, end) + titleElement(title) + html.slice(end),
  };
}

/** Its words count, but aren't part of excerpts. */
function titleElement(title: string): string {
  const text = title.replace(/[&<]/g, (character) => (character === '&' ? '&amp;' : '&lt;'));
  return title === '' ? '' : `<p data-pagefind-meta="title" data-pagefind-weight="10">${text}</p>`;
}

function squeeze(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}

function tagOf({ startIndex, endIndex }: Pick<Parser, 'startIndex' | 'endIndex'>, name: string): Tag {
  return { nameEnd: startIndex + 1 + name.length, end: endIndex + 1 };
}

function read(html: string): Found {
  const found: Found = {
    language: '',
    title: undefined,
    heading: undefined,
    isRedirect: false,
    isMarked: false,
    main: undefined,
    body: undefined,
  };
  let inside: 'title' | 'heading' | undefined;
  let depth = 0;
  const parser = new Parser({
    onopentag(name, attributes) {
      if (name === 'svg') depth += 1;
      if ('data-pagefind-body' in attributes) found.isMarked = true;
      if (name === 'html') found.language ||= (attributes.lang ?? attributes['xml:lang'] ?? '').trim().toLowerCase();
      if (name === 'meta' && /^refresh$/i.test(attributes['http-equiv'] ?? '')) found.isRedirect = true;
      const isMain = name === 'main' || attributes.role === 'main';
      if (isMain && depth === 0) found.main ??= tagOf(parser, name);
      if (name === 'body') found.body ??= tagOf(parser, name);
      if (name === 'title' && depth === 0 && found.title === undefined) {
        inside = 'title';
        found.title = '';
      }
      if (name === 'h1' && found.heading === undefined) {
        inside = 'heading';
        found.heading = '';
      }
    },
    ontext(text) {
      if (inside !== undefined) found[inside] += text;
    },
    onclosetag(name) {
      if (name === 'svg') depth -= 1;
      if (name === 'title' || name === 'h1') inside = undefined;
    },
  });
  parser.end(html);
  return found;
}
