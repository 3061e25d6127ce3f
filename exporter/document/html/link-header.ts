/** One link of a `Link` header. Parameter names are in lower case; the first of a repeated parameter counts. */
export type HeaderLink = { target: string; parameters: ReadonlyMap<string, string> };

const TARGET = /[\s,]*<([^>]*)>/y;
/** A parameter's value may be a token, a quoted string with escapes, or missing (empty). */
const PARAMETER = /\s*;\s*(?:([^\s=;,"<>]+)\s*(?:=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;,"]*)))?)?/y;

/** Reads a `Link` header (RFC 8288, section 3). Never throws: parsing stops at a syntax error. */
export function readLinkHeader(header: string): HeaderLink[] {
  const links: HeaderLink[] = [];
  for (let at = 0; ; ) {
    TARGET.lastIndex = at;
    const target = TARGET.exec(header)?.[1];
    if (target === undefined) return links;
    at = TARGET.lastIndex;
    const parameters = new Map<string, string>();
    for (PARAMETER.lastIndex = at; ; ) {
      const found = PARAMETER.exec(header);
      if (found === null) break;
      at = PARAMETER.lastIndex;
      const [, name, quoted, token = ''] = found;
      const key = name?.toLowerCase();
      if (key !== undefined && !parameters.has(key)) parameters.set(key, quoted?.replace(/\\(.)/g, '$1') ?? token);
    }
    links.push({ target: target.trim(), parameters });
  }
}
