import { readdirSync } from 'node:fs';
import { z } from 'zod';
import { normalizeUrl } from '../../exporter/urls/identity.ts';
import { extractFrom, rewritten, SITE } from '../exporter/document/engine.ts';
import { expectConformance, type Outcome, readSuite, suitePath } from './conformance.ts';
import { loadParse5, referencesOf, withoutUrls } from './html-judge.ts';

const PAGE = `https://${SITE.domain}/guides/start`;
const parse = await loadParse5();

/** Whether each URL that parse5 sees is found, and whether the rewritten page differs in nothing but URLs. */
function isExported(html: string): boolean {
  const text = Buffer.from(html)
    .toString('utf8')
    .replace(/^\uFEFF/, '');
  const tree = parse(text);
  const found = new Set(extractFrom({ text }).resources.map(({ url }) => url));
  const seen = referencesOf(tree)
    .filter((url) => url !== '' && !url.startsWith('#'))
    .map((url) => normalizeUrl(url, SITE, PAGE));
  if (seen.some((url) => url !== undefined && !found.has(url))) return false;
  return withoutUrls(parse(rewritten({ text }))) === withoutUrls(tree);
}

const tokenizerTests = z.object({
  tests: z
    .array(
      z.object({
        input: z.string(),
        initialStates: z.array(z.string()).default(['Data state']),
        lastStartTag: z.string().optional(),
        doubleEscaped: z.boolean().default(false),
      }),
    )
    .default([]),
});

/** What brings a parser into a state of the suite. */
const STATES: Record<string, (tag?: string) => string> = {
  'Data state': () => '',
  'PLAINTEXT state': () => '<plaintext>',
  'RCDATA state': (tag = 'textarea') => `<${tag}>`,
  'RAWTEXT state': (tag = 'style') => `<${tag}>`,
  'Script data state': () => '<script>',
  'CDATA section state': () => '<svg><![CDATA[',
};

const PROBE = '<a href="/after"><img src="/after.png">';

test('each tokenizer case of html5lib is read as parse5 reads it', () => {
  const outcomes: Outcome[] = [];
  const folder = 'go/html5lib/tokenizer';
  for (const file of readdirSync(suitePath(folder)).filter((name) => name.endsWith('.test'))) {
    const { tests } = tokenizerTests.parse(JSON.parse(readSuite(folder, file)));
    for (const [index, { input, initialStates, lastStartTag, doubleEscaped }] of tests.entries()) {
      const text = doubleEscaped ? JSON.parse(`"${input.replaceAll('"', '\\"')}"`) : input;
      for (const state of initialStates) {
        const html = `${STATES[state]?.(lastStartTag)}${text}${PROBE}`;
        outcomes.push({ name: `${file} ${index + 1} ${state}`, passed: isExported(html) });
      }
      const inAttributes = `<img alt="${text}" src="/a?${text}"><img src='/b?${text}'><img src=/c?${text}>${PROBE}`;
      outcomes.push({ name: `${file} ${index + 1} in attributes`, passed: isExported(inAttributes) });
    }
  }
  expectConformance({
    file: 'html5lib-tokenizer',
    suite: 'html5lib, tokenizer and entities',
    package: 'golang.org/x/net',
    shows: 'each URL that parse5 sees in a page is found, and the exported page differs from the original in URLs only',
    outcomes,
  });
});

test('each tree of html5lib is read as parse5 reads it', () => {
  const outcomes: Outcome[] = [];
  const folder = 'go/html5lib/tree-construction';
  for (const file of readdirSync(suitePath(folder)).filter((name) => name.endsWith('.dat'))) {
    const documents = `\n${readSuite(folder, file)}`.split('\n#data\n').slice(1);
    for (const [index, document] of documents.entries()) {
      const [html = ''] = document.split('\n#errors');
      outcomes.push({ name: `${file} ${index + 1}`, passed: isExported(html) });
      outcomes.push({ name: `${file} ${index + 1} before a link`, passed: isExported(`${html}${PROBE}`) });
    }
  }
  expectConformance({
    file: 'html5lib-trees',
    suite: 'html5lib, tree construction',
    package: 'golang.org/x/net',
    shows: 'each URL that parse5 sees in a page is found, and the exported page differs from the original in URLs only',
    outcomes,
  });
});
