import type { BundleRedirect, ForeignRules } from '../contract/bundle.ts';
import { encodePath } from './url.ts';

/** The files in which static hosts such as Netlify and Cloudflare Pages find their rules. */
export const REDIRECTS_PATH = '_redirects';
export const HEADERS_PATH = '_headers';

type RedirectRule = ForeignRules['rules'][number];
type HeaderRule = ForeignRules['headers'][number];

/** More than both hosts read. Each request may be compared with all of them. */
const MAX_RULES = 2_100;
const MAX_IGNORED = 20;

type Parsed<Rule> = {
  rules: Rule[];
  /** What isn't honored, for people: the file, the line, and why. */
  ignored: string[];
};

const REDIRECTING = new Set([301, 302, 303, 307, 308]);
const REWRITING = new Set([200, 404]);

/** Reads lines such as `/old/* /new/:splat 301!`. A rule that can't be honored is left out, and said so. */
export function parseRedirects(text: string): Parsed<RedirectRule> {
  return parseLines(REDIRECTS_PATH, text, (line, rules) => {
    const rule = readRedirect(line.trim().split(/\s+/));
    if (typeof rule === 'string') return rule;
    rules.push(rule);
    return undefined;
  });
}

/** Reads a line with a path, then indented lines such as `X-Robots-Tag: noindex`. `! Name` removes a header. */
export function parseHeaders(text: string): Parsed<HeaderRule> {
  return parseLines(HEADERS_PATH, text, (line, rules) => {
    if (!/^\s/.test(line)) {
      if (!line.startsWith('/')) return 'expected a path';
      rules.push({ from: line.trim(), set: [], unset: [] });
      return undefined;
    }
    const rule = rules.at(-1);
    if (rule === undefined) return 'a header before the first path';
    const [, removed] = /^\s*!\s*(\S+)\s*$/.exec(line) ?? [];
    const [, name = removed, value] = /^\s*([^\s:]+)\s*:\s*(.*?)\s*$/.exec(line) ?? [];
    if (name === undefined || !/^[\w!#$%&'*+.^`|~-]+$/.test(name)) return 'expected "Name: value"';
    if (value !== undefined && !/^[\t\x20-\x7e\x80-\xff]{1,4000}$/.test(value)) return `${name} has no valid value`;
    if (OWN_HEADERS.has(name.toLowerCase())) return `${name} is set by the server only`;
    if (value === undefined) rule.unset.push(name);
    else rule.set.push([name, value]);
    return undefined;
  });
}

/** What describes the message or connection, or would make visitors of others' pages one. */
const OWN_HEADERS = new Set(
  (
    'accept-ranges age allow connection content-encoding content-length content-range date etag keep-alive last-modified ' +
    'location proxy-authenticate server set-cookie te trailer transfer-encoding upgrade vary www-authenticate'
  ).split(' '),
);

function parseLines<Rule>(
  file: string,
  text: string,
  read: (line: string, rules: Rule[]) => string | undefined,
): Parsed<Rule> {
  const parsed: Parsed<Rule> = { rules: [], ignored: [] };
  let unread = 0;
  for (const [index, line] of text
    .replace(/^\uFEFF/, '')
    .split(/\r?\n/)
    .entries()) {
    if (/^\s*(?:#|$)/.test(line)) continue;
    const why = parsed.rules.length >= MAX_RULES ? `more than ${MAX_RULES} rules` : read(line, parsed.rules);
    if (why === undefined) continue;
    if (parsed.ignored.length < MAX_IGNORED) parsed.ignored.push(`${file}:${index + 1}: ${why}`);
    else unread += 1;
  }
  if (unread > 0) parsed.ignored.push(`${file}: ${unread} more lines`);
  return parsed;
}

/** The rule, or why it can't be honored. */
function readRedirect([from = '', to = '', code = '301', ...more]: readonly string[]): RedirectRule | string {
  if (!from.startsWith('/')) return 'only paths of this site can be redirected';
  const comment = more[0]?.startsWith('#') === true || more.length === 0;
  const [, digits, force] = /^(\d{3})(!?)$/.exec(code) ?? [];
  // `/path name=:value /to` and `/path /to 301 Country=…` have more words.
  if (digits === undefined || !comment)
    return 'conditions on the query, country, language or cookies are not supported';
  const status = Number(digits);
  if (!REDIRECTING.has(status) && !REWRITING.has(status)) return `the status ${status} is not supported`;
  const isPath = to.startsWith('/') && !/^\/[/\\]/.test(to);
  if (REWRITING.has(status) && !isPath) return 'a rewrite to another host is not supported';
  if (!isPath && !/^https?:\/\//.test(to)) return 'expected a path or an http(s) URL as the target';
  if (/\*.*\*/.test(from)) return 'expected at most one *';
  return { from, to, status, force: force === '!' };
}

/** The redirects of single paths, which every place can honor. */
export function redirectsOf(rules: readonly RedirectRule[], paths: ReadonlySet<string>): BundleRedirect[] {
  const seen = new Set<string>();
  return rules.flatMap(({ from, to, status, force }, index) => {
    const name = from.slice(1);
    const isFile = [name, `${name}.html`, `${name.replace(/\/$/, '')}/index.html`].some((path) => paths.has(path));
    const isPattern = /[*]|\/:/.test(from) || !REDIRECTING.has(status);
    const isShadowed = rules.slice(0, index).some((earlier) => matchPath(earlier.from, from) !== undefined);
    if (isPattern || (isFile && !force) || isShadowed || seen.has(from)) return [];
    seen.add(from);
    return [{ from, to, status }];
  });
}

/**
 * What the `*` and the `:names` of a pattern match in a path; undefined if it doesn't match. A slash at the end of either
 * doesn't matter. Time is proportional to the path's length.
 */
export function matchPath(pattern: string, path: string): ReadonlyMap<string, string> | undefined {
  const star = pattern.indexOf('*');
  if (star < 0) return matchSegments(withoutLastSlash(pattern), withoutLastSlash(path));
  const [before, after] = [pattern.slice(0, star), withoutLastSlash(pattern.slice(star + 1))];
  const depth = before.split('/').length - 1;
  const segments = path.split('/');
  // `/docs/*` matches `/docs` too.
  if (after === '' && withoutLastSlash(before) === withoutLastSlash(path)) return new Map([['splat', '']]);
  if (segments.length <= depth) return undefined;
  const [head, tail] = [segments.slice(0, depth), segments.slice(depth).join('/')];
  const partial = before.split('/').at(-1) ?? '';
  if (!tail.startsWith(partial) || tail.length < partial.length + after.length || !tail.endsWith(after))
    return undefined;
  const values = matchSegments(before.split('/').slice(0, depth).join('/'), head.join('/'));
  return values && new Map([...values, ['splat', tail.slice(partial.length, tail.length - after.length)]]);
}

function matchSegments(pattern: string, path: string): Map<string, string> | undefined {
  const [names, segments] = [pattern.split('/'), path.split('/')];
  if (names.length !== segments.length) return undefined;
  const values = new Map<string, string>();
  for (const [index, name] of names.entries()) {
    const segment = segments[index] ?? '';
    if (name.startsWith(':') && segment !== '') values.set(name.slice(1), segment);
    else if (name !== segment) return undefined;
  }
  return values;
}

function withoutLastSlash(path: string): string {
  return path.endsWith('/') ? path.slice(0, -1) : path;
}

/** The target of a rule with what its pattern matched: encoded, so that no request chooses another host or a query. */
export function fillTarget(to: string, values: ReadonlyMap<string, string>): string {
  return to.replace(/:([A-Za-z]\w*)/g, (text, name: string) => {
    const value = values.get(name);
    return value === undefined ? text : encodePath(value);
  });
}
