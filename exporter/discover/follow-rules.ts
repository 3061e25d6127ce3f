/** The agent that addresses Galley in a page's rules; `robots` addresses every agent. */
const AGENT = 'galley';
/** Rules with a value after a colon; in other lines the colon ends the agent's name. */
const VALUED = /^(?:unavailable_after|max-snippet|max-image-preview|max-video-preview)$/;

function isNofollow(rule: string): boolean {
  return rule === 'nofollow' || rule === 'none';
}

/** Whether `<meta name="robots">`, or one that names Galley, forbids following the page's links. */
export function metaForbidsFollowing(name: string, content: string): boolean {
  if (!/^(?:robots|galley)$/i.test(name.trim())) return false;
  return content
    .toLowerCase()
    .split(/[\s,]+/)
    .some(isNofollow);
}

function lineForbids(line: string): boolean {
  let agent: string | undefined;
  return line
    .toLowerCase()
    .split(',')
    .some((piece) => {
      const [, name = '', rest = ''] = /^\s*([\w-]+)\s*:(.*)$/.exec(piece) ?? [];
      const namesAgent = name !== '' && !VALUED.test(name);
      if (namesAgent) agent = name;
      const rule = (namesAgent ? rest : piece).trim();
      return isNofollow(rule) && (agent === undefined || agent === AGENT);
    });
}

/** The same for `X-Robots-Tag`, one line or several; `agent: rule, rule` applies to that agent only. */
export function headerForbidsFollowing(header: string | readonly string[] | undefined): boolean {
  if (header === undefined) return false;
  return typeof header === 'string' ? lineForbids(header) : header.some(lineForbids);
}
