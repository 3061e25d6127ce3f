/** One link of a `Link` header. Names of parameters are in lower case; of one that is named twice the first counts. */
export type HeaderLink = { target: string; parameters: ReadonlyMap<string, string> };

const TARGET = /[\s,]*<([^>]*)>/y;
/** A parameter's value may be a token or quoted, with anything escaped in it; without one it is as good as empty. */
const PARAMETER = /\s*;\s*(?:([^\s=;,"<>]+)\s*(?:=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;,"]*)))?)?/y;

/** Reads a `Link` header (RFC 8288, section 3). Never throws: what comes after something broken is left out. */
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
