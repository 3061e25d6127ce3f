/** A replacement of the bytes from `start` to `end` (exclusive) by `text`, which is ASCII. */
export type Splice = { start: number; end: number; text: string };

/**
 * Applies all splices in one pass. A splice inside another is dropped, because the outer one replaces its bytes.
 * Insertions at one offset keep their order.
 */
export function applySplices(bytes: Uint8Array, splices: readonly Splice[]): Uint8Array {
  if (splices.length === 0) return bytes;
  const ordered = withoutNested(splices);
  const size = ordered.reduce((sum, { start, end, text }) => sum + text.length - (end - start), bytes.length);
  const result = Buffer.allocUnsafe(size);
  let read = 0;
  let written = 0;
  for (const { start, end, text } of ordered) {
    result.set(bytes.subarray(read, start), written);
    written += start - read;
    written += result.write(text, written, 'latin1');
    read = end;
  }
  result.set(bytes.subarray(read), written);
  return result;
}

function withoutNested(splices: readonly Splice[]): Splice[] {
  const sorted = [...splices].sort((a, b) => a.start - b.start || Number(isInsertion(b)) - Number(isInsertion(a)));
  let end = 0;
  return sorted.filter((splice) => {
    if (splice.start < end) return false;
    end = splice.end;
    return true;
  });
}

function isInsertion({ start, end }: Splice): boolean {
  return start === end;
}

/**
 * Escapes a URL for its context. `layers` lists the contexts from the innermost out, one character each: an unquoted
 * `url()` in a double-quoted style attribute is `u"`.
 *
 * | layer | context |
 * |---|---|
 * | `"` `'` `=` | HTML attribute in double quotes, in single quotes, unquoted |
 * | `x` | XML text |
 * | `,` | a candidate of `srcset` |
 * | `u` `d` `s` | CSS: unquoted `url()`, string in double quotes, string in single quotes |
 * | `q` | JavaScript or JSON string |
 * | `m` | module specifier: a relative one begins with `./` |
 * | `p` | resolved against the page: as `r` if a framework hydrates it, because its router changes the page's URL |
 * | `w` `i` `l` | a JavaScript expression for the absolute URL: in a page, in a module, and in another script file |
 * | `r` | resolved against the page that runs the script: a file of the bundle is written from its root |
 */
export function applyLayers(url: string, layers: string): string {
  let text = url;
  for (const layer of layers) text = applyLayer(text, layer);
  return text;
}

function applyLayer(text: string, layer: string): string {
  switch (layer) {
    case '"':
      return text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');
    case "'":
      return text.replaceAll('&', '&amp;').replaceAll("'", '&#39;').replaceAll('<', '&lt;');
    case '=':
      return text.replaceAll('&', '&amp;').replace(/["'<>=`\s]/g, (found) => `&#${found.charCodeAt(0)};`);
    case 'x':
      return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
    case ',':
      return text.replace(/^,+|,+$/g, (commas) => '%2C'.repeat(commas.length));
    case 'u':
      return text.replace(/["'()\\\s]/g, '\\$&');
    case 'd':
    case 's':
      return text.replace(layer === 'd' ? /["\\]/g : /['\\]/g, '\\$&');
    case 'q':
      return text.replace(/["'`\\]/g, '\\$&');
    case 'w':
      return `(new window.URL("${text}",window.document.baseURI).href)`;
    case 'i':
      return `(new globalThis.URL("${text}",import.meta.url).href)`;
    case 'l':
      return `(globalThis.location.origin+"${text}")`;
    case 'm':
      return /^(?:\.{0,2}\/|[a-z][a-z0-9+.-]*:)/i.test(text) ? text : `./${text}`;
    default:
      return text;
  }
}
