import { nestsTooDeep } from '../../contract/yaml-nesting.ts';

describe('a YAML text', () => {
  it.each([
    ['sequences in sequences on one line', '- '.repeat(101)],
    ['keys of keys', `  ${'? '.repeat(5_000)}`],
    ['indented keys', Array.from({ length: 101 }, (_, level) => `${' '.repeat(level)}a:\n`).join('')],
    ['brackets', 'a: [\n'.repeat(101)],
    ['braces', '{a: '.repeat(50_000)],
    ['brackets with closing ones in quotes and comments', '["]", # ]\n'.repeat(101)],
  ])('is refused for too many %s', (_what, text) => {
    expect(nestsTooDeep(text)).toBe(true);
  });

  it.each([
    ['an empty one', ''],
    ['many closed brackets', 'a: [b]\n'.repeat(1_000)],
    ['brackets in comments and quotes', `# ${'['.repeat(500)}\na: "${'{'.repeat(500)}"\n`],
    ['a hundred levels', `${'- '.repeat(100)}x`],
    [
      'one with a hundred indented keys',
      Array.from({ length: 100 }, (_, level) => `${' '.repeat(level)}a:\n`).join(''),
    ],
    ['one that often indents and goes back', 'a:\n  b:\n    c\n\n'.repeat(1_000)],
    ['rulers', `# ${'- '.repeat(500)}\na: b\n---\n`],
    ['many lines of a sequence', '- a: {b: c}\n'.repeat(1_000)],
  ])('is parsed if it is %s', (_what, text) => {
    expect(nestsTooDeep(text)).toBe(false);
  });
});
