import { readdirSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { z } from 'zod';
import { normalizeUrl } from '../../exporter/urls/identity.ts';
import { extractFrom, rewritten, SITE } from '../exporter/document/engine.ts';
import { expectConformance, type Outcome, readSuite, suitePath } from './conformance.ts';

const STYLE = '/guides/style.css';
const BASE = `https://${SITE.domain}${STYLE}`;
const PROBE = '\n}{}.probe{background:url(after.png)}';

const judge = suitePath('node_modules/@csstools/css-tokenizer/dist/index.mjs');
const { tokenize } = await import(pathToFileURL(judge).href);
const tokens = z.array(z.tuple([z.string(), z.string(), z.int(), z.int(), z.unknown()]));
const value = z.object({ value: z.string() });

type Token = z.infer<typeof tokens>[number];

const readTokens = (css: string): Token[] => tokens.parse(tokenize({ css }));

/** The URLs of `url()`, quoted or not, as the judge tokenizes them; `null` in `@namespace`, which loads nothing. */
function urlsOf(css: string): string[] {
  const read = readTokens(css).filter(([type]) => type !== 'comment');
  let atRule = '';
  return read.flatMap(([type, raw, , , data], index) => {
    if (type === 'at-keyword-token') atRule = raw.toLowerCase();
    if ([';', '{', '}'].includes(raw)) atRule = '';
    if (atRule === '@namespace') return [];
    if (type === 'url-token') return [value.parse(data).value];
    if (type !== 'function-token' || value.parse(data).value.toLowerCase() !== 'url') return [];
    const argument = read.slice(index + 1).find(([each]) => each !== 'whitespace-token');
    return argument?.[0] === 'string-token' ? [value.parse(argument[4]).value] : [];
  });
}

/** The tokens, in which URLs are the same for all. */
function withoutUrls(css: string): string {
  let inUrl = false;
  return readTokens(css)
    .map(([type, raw]) => {
      if (type === 'function-token') inUrl = /^url\($/i.test(raw);
      else if (type === ')-token') inUrl = false;
      return type === 'url-token' || (inUrl && type === 'string-token') ? type : raw;
    })
    .join('|');
}

function isExported(css: string): boolean {
  const text = `${css}${PROBE}`;
  const sample = { text, type: 'text/css; charset=utf-8', url: STYLE };
  const found = new Set(extractFrom(sample).resources.map(({ url }) => url));
  const seen = urlsOf(text)
    .filter((url) => url !== '' && !url.startsWith('#'))
    .map((url) => normalizeUrl(url, SITE, BASE));
  if (seen.some((url) => url !== undefined && !found.has(url))) return false;
  return withoutUrls(rewritten(sample)) === withoutUrls(text);
}

const shows =
  'each URL that the judge sees in a stylesheet is found, and the exported one differs from the original in URLs only';

test('each stylesheet of the tokenizer tests is read as @csstools/css-tokenizer reads it', async () => {
  const { testCorpus } = await import(
    pathToFileURL(suitePath('node_modules/@rmenke/css-tokenizer-tests/index.mjs')).href
  );
  const corpus = z.record(z.string(), z.object({ css: z.string() })).parse(testCorpus);
  const outcomes: Outcome[] = Object.entries(corpus).map(([name, { css }]) => ({ name, passed: isExported(css) }));
  expectConformance({
    file: 'css-tokenizer',
    suite: 'CSS tokenizer tests',
    package: '@rmenke/css-tokenizer-tests',
    shows,
    outcomes,
  });
});

test("each stylesheet of PostCSS's parser tests is read as @csstools/css-tokenizer reads it", () => {
  const folder = 'node_modules/postcss-parser-tests/cases';
  const files = readdirSync(suitePath(folder)).filter((name) => name.endsWith('.css'));
  const outcomes: Outcome[] = files.map((name) => ({ name, passed: isExported(readSuite(folder, name)) }));
  expectConformance({
    file: 'postcss',
    suite: "PostCSS's parser tests",
    package: 'postcss-parser-tests',
    shows,
    outcomes,
  });
});
