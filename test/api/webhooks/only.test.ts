import { createOnlyFilter } from '../../../api/webhooks/configured-source.ts';
import type { ParsedDelivery } from '../../../api/webhooks/source.ts';
import fc, { anyCharacter } from '../../helpers/fast-check.ts';
import { runToEnd } from '../../helpers/run-to-end.ts';
import { configWith } from '../running-api.ts';
import { parserOf } from '../sources/source-parser.ts';

const parse = (source: string, only: object, body: unknown, headers: Record<string, string>) =>
  parserOf(source, { only })(body, headers);

const page = (paths: readonly string[]): ParsedDelivery => ({
  kind: 'publish',
  paths,
  event: { topic: '', action: 'publish', id: '1', title: 'a', url: '', author: '', at: '' },
});

const entry = (contentType?: string) => ({
  sys: { id: 'e1', ...(contentType && { contentType: { sys: { id: contentType } } }) },
});
const published = { 'x-contentful-topic': 'ContentManagement.Entry.publish' };

const push = (commits: readonly object[]) => ({ ref: 'refs/heads/main', after: 'abc', commits });
const pushed = { 'x-github-event': 'push' };
const commit = (files: readonly string[]) => ({ id: 'abc', added: [], modified: files, removed: [] });

describe('a source that publishes only some deliveries', () => {
  test('takes those whose topic matches, and says of the others what kept them back', () => {
    const only = { topic: ['ContentManagement.*.publish'] };
    expect(parse('contentful', only, entry(), published)).toMatchObject({ kind: 'publish' });
    const unpublished = { 'x-contentful-topic': 'ContentManagement.Entry.unpublish' };
    expect(parse('contentful', only, entry(), unpublished)).toEqual({
      kind: 'filtered',
      topic: 'ContentManagement.Entry.unpublish',
      why: 'only.topic',
    });
  });

  test('takes those of the content types named, and those that name none', () => {
    const only = { contentType: ['article', 'page*'] };
    expect(parse('contentful', only, entry('article'), published).kind).toBe('publish');
    expect(parse('contentful', only, entry('pageSection'), published).kind).toBe('publish');
    expect(parse('contentful', only, entry('author'), published)).toMatchObject({ why: 'only.contentType' });
    expect(parse('contentful', only, entry(), published).kind).toBe('publish');
  });

  test('takes a push that changes any file below the paths named, with a leading slash or without', () => {
    for (const path of ['docs/**', '/docs/**', 'DOCS/**']) {
      const changed = push([commit(['src/a.ts']), commit(['docs/.vitepress/config.ts'])]);
      expect(parse('github', { path }, changed, pushed).kind).toBe('publish');
      expect(parse('github', { path }, push([commit(['src/a.ts', 'documents.md'])]), pushed)).toMatchObject({
        kind: 'filtered',
        why: 'only.path',
      });
    }
  });

  test('takes the home page by its path, and a delivery without a topic', () => {
    for (const path of ['/', '/**', '**']) {
      expect(createOnlyFilter({ path: [path] })(page(['/'])).kind).toBe('publish');
      expect(createOnlyFilter({ path: [path] })(page([''])).kind).toBe('publish');
    }
    expect(createOnlyFilter({ path: ['/'] })(page(['/docs'])).kind).toBe('filtered');
    expect(createOnlyFilter({ topic: ['entry.publish'] })(page([])).kind).toBe('publish');
  });

  test('reads nothing but stars into a pattern', () => {
    const takes = (path: string, file: string): boolean =>
      createOnlyFilter({ path: [path] })(page([file])).kind === 'publish';
    fc.assert(
      fc.property(fc.string({ minLength: 1, unit: anyCharacter }), (name) => {
        const plain = name.replaceAll('*', '').replaceAll('/', '');
        fc.pre(plain !== '');
        expect(takes(`app/${plain}/**`, `app/${plain}/a.md`)).toBe(true);
        expect(takes(`app/${plain}`, `app/${plain}x`)).toBe(false);
      }),
    );
    for (const name of ['app/(docs)/a.md', 'app/[slug]/a.md', '!docs/a.md', 'a?.md', 'a{b,c}.md', '+(a).md']) {
      expect(takes(name, name)).toBe(true);
    }
    expect(takes('!docs/**', 'src/a.ts')).toBe(false);
    expect(takes('a?.md', 'ab.md')).toBe(false);
    expect(takes('docs/*', 'docs/a/b')).toBe(false);
  });

  test('takes bounded time, whatever the sender names', () => {
    const topic = createOnlyFilter({ topic: [`${'*.'.repeat(30)}publish`] });
    const event = {
      topic: '.'.repeat(8_000),
      action: 'publish' as const,
      id: '1',
      title: '',
      url: '',
      author: '',
      at: '',
    };
    expect(runToEnd(() => topic({ kind: 'publish', event }).kind)).toBe('filtered');
    const path = createOnlyFilter({ path: [`${'**/a/'.repeat(10)}b`] });
    expect(runToEnd(() => path(page(['a/'.repeat(2_000)])).kind)).toBe('filtered');
  });

  test('takes a push that may not list every file', () => {
    const only = { path: 'docs/**' };
    const many = Array.from({ length: 20 }, () => commit(['src/a.ts']));
    for (const commits of [[], [{ id: 'abc' }], many]) {
      expect(parse('github', only, push(commits), pushed).kind).toBe('publish');
    }
    // Gitea lists five commits of a longer push, and not every release counts the others.
    const five = Array.from({ length: 5 }, () => commit(['src/a.ts']));
    const kindOf = (body: object) => parse('github', only, { ...push(five), ...body }, pushed).kind;
    expect(kindOf({ compare_url: 'https://git.example/compare', total_commits: 5 })).toBe('publish');
    expect(kindOf({ total_commits: 7 })).toBe('publish');
    expect(kindOf({ total_commits: 5 })).toBe('filtered');
  });

  test('is refused with a pattern that is empty or a key that is none', () => {
    const configure = (only: object) => () => configWith({ docs: { webhooks: { contentful: { secret: 'x', only } } } });
    expect(configure({ topic: '' })).toThrow(/a pattern must not be empty/);
    expect(configure({ topic: [] })).toThrow(/topic/);
    expect(configure({ branch: 'main' })).toThrow(/branch/);
  });
});

test.each([
  ['token', {}],
  ['strapi', {}],
  ['standard', { secret: 'whsec_c2VjcmV0' }],
  ['hmac', { header: 'X-Signature' }],
])('the source %s filters what the filters of the site do not match', (source, settings) => {
  const readFiltered = parserOf(source, { ...settings, filters: { 'entry.locale': ['en', 'de'], live: 'true' } });
  const delivery = (locale: unknown, live: unknown) => ({ event: 'entry.publish', entry: { locale }, live });
  expect(readFiltered(delivery('de', true))).toMatchObject({ kind: 'publish' });
  for (const locale of ['fr', undefined]) {
    const why = 'filters.entry.locale';
    expect(readFiltered(delivery(locale, true))).toEqual({ kind: 'filtered', topic: 'entry.publish', why });
  }
  expect(readFiltered(delivery('en', false))).toMatchObject({ why: 'filters.live' });
});
