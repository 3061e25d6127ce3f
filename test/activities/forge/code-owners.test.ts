import { ownersOf, parseCodeOwners } from '../../../activities/forge/code-owners.ts';
import fc, { anyCharacter } from '../../helpers/fast-check.ts';
import { runToEnd } from '../../helpers/run-to-end.ts';

const NONE = { logins: [], teams: [], mails: [] };

/** The owners of one path, as written in the file. */
async function owners(file: string, ...paths: string[]): Promise<string[]> {
  const { logins, teams, mails } = (await ownersOf(parseCodeOwners(file), paths)) ?? NONE;
  return [...logins.map((login) => `@${login}`), ...teams.map((team) => `team ${team}`), ...mails];
}

describe('a pattern of CODEOWNERS', () => {
  it.each<[string, string[], string[]]>([
    ['*', ['README.md', 'a/b/c.txt', '.github/x'], []],
    ['*.md', ['README.md', 'docs/deep/x.md'], ['README.mdx', 'md']],
    ['/build/logs/', ['build/logs/a', 'build/logs/a/b'], ['build/logs', 'x/build/logs/a']],
    ['docs/*', ['docs/getting-started.md'], ['docs/build-app/troubleshooting.md', 'x/docs/a.md']],
    ['/docs/*', ['docs/a.md'], ['docs/a/b.md']],
    ['/*', ['README.md'], ['docs/a.md']],
    ['docs/**', ['docs/a.md', 'docs/a/b.md'], ['x/docs/a.md']],
    ['apps/', ['apps/x', 'a/apps/b/c'], ['apps']],
    ['/docs/', ['docs/a.md', 'docs/a/b.md'], ['a/docs/b.md']],
    ['/scripts/*.sh', ['scripts/a.sh'], ['scripts/x/a.sh', 'a.sh']],
    ['**/logs', ['logs/a', 'build/logs/b', 'deeply/nested/logs/c'], ['logsx/a']],
    ['/apps/github', ['apps/github', 'apps/github/a/b'], ['x/apps/github', 'apps/githubx']],
    ['a/**/z.md', ['a/z.md', 'a/b/z.md', 'a/b/c/z.md'], ['b/z.md']],
    ['Readme.md', ['Readme.md', 'x/Readme.md'], ['README.md', 'readme.md']],
    ['my\\ file.md', ['my file.md', 'docs/my file.md'], ['my', 'file.md']],
    ['a?c', ['abc'], ['ac', 'abbc', 'a/c']],
    ['docs/*/', ['docs/a/b', 'docs/a/b/c'], ['docs/a', 'x/docs/a/b']],
    ['/**/x', ['x', 'a/x', 'a/x/b'], ['xy']],
    ['*/x', ['a/x', 'a/x/b'], ['x', 'a/b/x']],
    ['größe/東京.md', ['größe/東京.md'], ['große/東京.md']],
  ])('%s', async (pattern, matching, others) => {
    for (const path of matching) expect([path, await owners(`${pattern} @a`, path)]).toEqual([path, ['@a']]);
    for (const path of others) expect([path, await owners(`${pattern} @a`, path)]).toEqual([path, []]);
  });
});

describe('the file', () => {
  it('uses the last matching line', async () => {
    const file = '* @global\n*.md @writers/docs\n/docs/api.md @ada\n';
    expect(await owners(file, 'src/a.ts')).toEqual(['@global']);
    expect(await owners(file, 'docs/a.md')).toEqual(['team docs']);
    expect(await owners(file, 'docs/api.md')).toEqual(['@ada']);
  });

  it('removes owners with a line without owners', async () => {
    const file = '* @global\n/apps/\n/apps/github @ada # but this one\n';
    expect(await owners(file, 'apps/x')).toEqual([]);
    expect(await owners(file, 'apps/github/x')).toEqual(['@ada']);
    expect(await owners(file, 'x')).toEqual(['@global']);
  });

  it('names people, teams and email addresses once each, ignoring case', async () => {
    const file = 'a @Ada @acme/docs bob@example.com\nb @ada @acme/Docs BOB@example.com @eve[bot]\n';
    expect(await owners(file, 'a', 'b')).toEqual(['@Ada', '@eve[bot]', 'team docs', 'bob@example.com']);
  });

  it.each<[string, string]>([
    ['comments', '# * @a\n   # * @b\n'],
    ['comments behind owners', '* @first #not-@second\n* # @third'],
    ['empty lines', '\n\r\n \t \n'],
    ['negations, which CODEOWNERS has none of', '!x @a'],
    ['ranges, which it has none of', '[ab].md @a'],
    ['an escaped number sign, which it has none of', '\\#x @a'],
    ['sections of another forge', '[Documentation] @docs\n^[Optional][2] @a\n'],
    ['lines with something that is no owner', '* someone\n* @a who else\n* @\n* @a/b/c\n'],
  ])('finds no owner in %s', async (_, file) => {
    expect(await owners(file, '#x', 'x', 'a.md', '[ab].md')).toEqual([]);
  });

  it('supports Windows line ends, tabs and a last line without a line end', async () => {
    expect(await owners('*.md\t\t@a\r\n*.ts   @b', 'x.md', 'x.ts')).toEqual(['@a', '@b']);
  });

  it('is ignored if it exceeds the size limit of GitHub', () => {
    expect(parseCodeOwners(`* @a\n${'#'.repeat(3 * 1024 * 1024)}`)).toEqual([]);
  });

  it('never throws, for any content and changed files', async () => {
    const odd = fc.constantFrom(
      '*',
      '**',
      '/',
      '\\',
      '#',
      ' ',
      '\n',
      '@a',
      '@a/b',
      'a@b',
      '!',
      '[',
      '../',
      './',
      '\0',
      'é',
    );
    const text = fc.oneof(
      fc.string({ unit: anyCharacter }),
      fc.array(odd).map((parts) => parts.join('')),
    );
    await fc.assert(
      fc.asyncProperty(text, fc.array(text), async (file, paths) => {
        const found = await ownersOf(parseCodeOwners(file), paths);
        expect(Object.keys(found ?? {})).toEqual(['logins', 'teams', 'mails']);
      }),
      { numRuns: 500 },
    );
  });

  it.each([
    ['folders', `/a${'/**/a'.repeat(8)}/b`, `${'a/'.repeat(2_000)}a`],
    ['names', `${'*a'.repeat(30)}b`, 'a'.repeat(4_000)],
  ])('compares a pattern with many stars for %s in bounded time', async (_, pattern, path) => {
    expect(await runToEnd(() => ownersOf(parseCodeOwners(`${pattern} @a`), [path]))).toEqual(NONE);
  });

  it('yields to the event loop while it compares many patterns with many files', async () => {
    const rules = parseCodeOwners(Array.from({ length: 500 }, (_, index) => `*.x${index} @a${index}`).join('\n'));
    const paths = Array.from({ length: 500 }, (_, index) => `docs/part${index}/page.x0`);
    let turns = 0;
    const timer = setInterval(() => {
      turns += 1;
    }, 1);
    try {
      expect(await ownersOf(rules, paths)).toEqual({ logins: ['a0'], teams: [], mails: [] });
      expect(turns).toBeGreaterThan(0);
      expect(await ownersOf(rules, paths, 0)).toBeNull();
    } finally {
      clearInterval(timer);
    }
  });
});
