import { z } from 'zod';
import { normalizeReference, normalizeUrl } from '../../exporter/urls/identity.ts';
import { rewritten, SITE } from '../exporter/document/engine.ts';
import { expectConformance, type Outcome, readSuite } from './conformance.ts';
import { loadParse5, referencesOf } from './html-judge.ts';

const PAGE = `https://${SITE.domain}/guides/start`;
const parse = await loadParse5();

const suite = z.array(
  z.union([
    z.string(),
    z.object({
      input: z.string(),
      base: z.string().nullable(),
      href: z.string().optional(),
      failure: z.boolean().optional(),
    }),
  ]),
);

/** The same resource: without the fragment, with every escape decoded, but as many separators. */
function samePlace(one: string, other: string): boolean {
  const placeOf = (text: string): string => {
    const { protocol, host, pathname, search } = new URL(text);
    const decoded = Buffer.from(unescape(pathname + search), 'latin1').toString('latin1');
    return [protocol, host.replace(/\.(?=:|$)/, ''), decoded, pathname.split('/').length].join(' ');
  };
  return placeOf(one) === placeOf(other);
}

/** Galley requests only http(s), and nothing with credentials. */
function isRequested(href: string | undefined): href is string {
  if (href === undefined || !/^https?:/.test(href)) return false;
  const { username, password, hostname } = new URL(href);
  return username === '' && password === '' && !/(?:^|\.)\.$/.test(hostname);
}

/** `&`, quotes and the characters that an HTML parser changes, as references. */
function inAttribute(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('\r', '&#13;');
}

function isRewrittenRight(input: string, base: string | null, href: string | undefined): boolean {
  const html = `${base === null ? '' : `<base href="${inAttribute(base)}">`}<a href="${inAttribute(input)}">`;
  const [link] = referencesOf(parse(rewritten({ text: html, target: ({ url }) => ({ absolute: url }) })));
  if (link === undefined) return false;
  if (!isRequested(href)) return link === input;
  const absolute = new URL(link, base ?? PAGE).href;
  return samePlace(absolute, href) && new URL(absolute).hash === new URL(href).hash;
}

test('the URL that is requested and the link that is written are those of the URL standard', () => {
  const outcomes: Outcome[] = [];
  const tests = suite
    .parse(JSON.parse(readSuite('go/whatwg-url/urltestdata.json')))
    .filter((each) => typeof each !== 'string');
  for (const [index, { input, base, href }] of tests.entries()) {
    const name = `${index + 1} ${JSON.stringify(input)}`;
    const isNormal = base !== null && normalizeUrl(base, SITE) === base;
    const found = isNormal ? normalizeReference(input, SITE, base) : normalizeUrl(input, SITE, base ?? undefined);
    const passed = isRequested(href) ? found !== undefined && samePlace(found, href) : found === undefined;
    outcomes.push({ name: `${name} requested`, passed });
    // A page has an address of http(s), to which a URL without a base may be relative, and HTML has no NUL.
    const inPage = base === null ? /^(?!https:(?!\/\/))[a-z][a-z0-9+.-]*:/i.test(input) : /^https?:/.test(base);
    if (inPage && !input.includes('\0'))
      outcomes.push({ name: `${name} linked`, passed: isRewrittenRight(input, base, href) });
  }
  expectConformance({
    file: 'urls',
    suite: 'WPT urltestdata',
    package: 'github.com/nlnwa/whatwg-url',
    shows: 'the URL that the crawler requests, and the link in the exported page, lead where the URL standard says',
    outcomes,
  });
});
