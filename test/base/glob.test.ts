import { createGlob } from '../../base/glob.ts';
import fc from '../helpers/fast-check.ts';
import { runToEnd } from '../helpers/run-to-end.ts';

const matches = (pattern: string, path: string): boolean => createGlob(pattern)(path);

describe('a pattern of paths', () => {
  it.each<[string, string[], string[]]>([
    ['/docs/a.md', ['/docs/a.md'], ['/docs/a.mdx', '/docs', '/x/docs/a.md', 'docs/a.md', '/docs/a.md/']],
    ['/*', ['/a', '/.a', '/a/'], ['/', '/a/b']],
    ['/a*', ['/a', '/ab', '/ab/'], ['/b', '/a/b']],
    ['/*/b', ['/a/b'], ['/b', '//b', '/a/c/b']],
    ['*.md', ['a.md', '.md'], ['a.mdx', 'a/b.md']],
    ['/**', ['/', '/a', '/a/b/', ''], ['a']],
    ['**', ['', '/', 'a', 'a/b'], []],
    ['/docs/**', ['/docs', '/docs/', '/docs/a/b.md'], ['/docsx', '/x/docs/a']],
    ['/**/b', ['/b', '/a/b', '/a/a/b'], ['/ab', '/b/a']],
    ['/**/*.js', ['/a.js', '/x/y.js'], ['/', '/a.jsx']],
    ['/a**b', ['/ab', '/a-b'], ['/a/b']],
    ['a?c', ['abc', 'aéc', 'a😀c'], ['ac', 'a/c', 'abbc']],
    ['a\\*\\?\\\\', ['a*?\\'], ['ab?\\', 'a*']],
    ['[a]{b,c}(d)!+@', ['[a]{b,c}(d)!+@'], ['abd']],
    ['a\nb*', ['a\nbc'], ['a']],
  ])('%j', (pattern, matching, others) => {
    for (const path of matching) expect([path, matches(pattern, path)]).toEqual([path, true]);
    for (const path of others) expect([path, matches(pattern, path)]).toEqual([path, false]);
  });

  it('matches what a regular expression matches', () => {
    const expressionOf = (pattern: string): RegExp => {
      const parts = pattern.split('/').map((part) => {
        if (part === '**') return '(?:[^/]*/)*';
        return `${part === '*' ? '[^/]+' : part.replaceAll('*', '[^/]*')}/`;
      });
      return new RegExp(`^${parts.join('')}$`);
    };
    const patterns = fc.array(fc.constantFrom('a', 'b', '*', '**', 'a*', '*b', '*a*b'), { minLength: 1, maxLength: 5 });
    const paths = fc.array(fc.constantFrom('a', 'b', 'ab', 'ba', 'aab'), { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(patterns, paths, (pattern, path) => {
        const [glob, text] = [pattern.join('/'), path.join('/')];
        expect(matches(glob, text)).toBe(expressionOf(glob).test(`${text}/`));
      }),
    );
  });

  it.each([
    ['stars in a name', `/${'*a'.repeat(500)}b`, `/${'a'.repeat(5_000)}`],
    ['stars next to each other', `/${'*?'.repeat(500)}b`, `/${'a'.repeat(5_000)}`],
    ['any number of folders', `${'/**/a'.repeat(500)}/b`, '/a'.repeat(2_500)],
    ['both', `${'/**/*a*a*a'.repeat(100)}/b`, '/aaaaaaa'.repeat(500)],
  ])('with many %s never backtracks', (_, pattern, path) => {
    expect(runToEnd(() => matches(pattern, path))).toBe(false);
  });
});
