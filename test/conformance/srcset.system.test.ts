import { createRequire } from 'node:module';
import { jest } from '@jest/globals';
import { z } from 'zod';
import { parseSrcset } from '../../exporter/document/html/attributes.ts';
import { expectConformance, type Outcome, readSuite, suitePath } from './conformance.ts';

const parseByJudge = createRequire(suitePath('package.json'))('parse-srcset');
const judged = z.array(z.object({ url: z.string() }));

const unescapeHtml = (text: string): string =>
  text
    .replaceAll('&nbsp;', '\u00a0')
    .replace(/&#x([0-9A-F]+);/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));

/** The judge drops a candidate whose descriptors are wrong. Galley exports it too, so that no image is missing. */
function isFound(srcset: string): boolean {
  const found = parseSrcset(srcset).map(({ from, to }) => srcset.slice(from, to));
  return judged.parse(parseByJudge(srcset)).every(({ url }) => found.includes(url));
}

test('each candidate that a browser may choose is found', () => {
  // The judge logs each wrong descriptor.
  jest.spyOn(console, 'log').mockReturnValue();
  const rows = readSuite('node_modules/parse-srcset/tests/unit/ps.js').matchAll(
    /\{srcset:\s*'((?:[^'\\]|\\.)*)'\s*,\s*expect:[^\n]*desc:\s*'([^']*)'/g,
  );
  const outcomes: Outcome[] = [...rows].map(([, srcset = '', what], index) => ({
    name: `${index + 1} ${what}`,
    passed: isFound(unescapeHtml(srcset.replaceAll('\\\\', '\\'))),
  }));
  expectConformance({
    file: 'srcset',
    suite: 'srcset, after WPT',
    package: 'parse-srcset',
    shows: 'each image candidate that parse-srcset reads from the attribute is found',
    outcomes,
  });
});
