import { expectToReadAnything, RECEIVED_AT, readerOf } from './source-reader.ts';

const read = readerOf('ghost');

const post = {
  id: '673f0c1a2b3c4d5e6f708192',
  uuid: 'b1c0',
  title: 'Hello',
  slug: 'hello',
  status: 'published',
  url: 'https://blog.example/hello/',
  created_at: '2026-11-20T10:00:00.000Z',
  updated_at: '2026-11-21T07:59:58.000Z',
  published_at: '2026-11-21T07:59:58.000Z',
  primary_author: { id: '1', name: 'Joe Bloggs', slug: 'joe-bloggs' },
  authors: [{ id: '1', name: 'Joe Bloggs' }],
  tags: [],
};
const draft = { ...post, status: 'draft', url: 'https://blog.example/p/b1c0/', published_at: null };
const wasDraft = { status: 'draft', published_at: null, updated_at: '2026-11-20T10:00:00.000Z' };
const edited = { title: 'Helo', updated_at: '2026-11-20T10:00:00.000Z' };
const change = (current: object, previous: object, kind = 'post') => ({ [kind]: { current, previous } });

describe('a Ghost event', () => {
  test('of a post that was published is read with its address and author', () => {
    expect(read(change(post, wasDraft))).toEqual({
      kind: 'publish',
      contentType: 'post',
      paths: ['/hello/'],
      event: {
        source: 'ghost',
        topic: 'post.published',
        action: 'publish',
        id: '673f0c1a2b3c4d5e6f708192',
        title: 'Hello',
        url: 'https://blog.example/hello/',
        author: 'Joe Bloggs',
        at: '2026-11-21T07:59:58.000Z',
      },
    });
  });

  test.each([
    ['that was published as it was made', change(post, {}), 'post.published', 'publish'],
    ['that is published and was scheduled', change(post, { status: 'scheduled' }), 'post.published', 'publish'],
    ['that was edited while published', change(post, edited), 'post.published.edited', 'publish'],
    ['that went out by mail', change({ ...post, status: 'sent' }, wasDraft), 'post.published', 'publish'],
    ['that was taken back', change(draft, { status: 'published' }), 'post.unpublished', 'unpublish'],
    [
      'that was taken back and scheduled',
      change({ ...draft, status: 'scheduled' }, { status: 'published' }),
      'post.unpublished',
      'unpublish',
    ],
    ['that was deleted while published', change({}, post), 'post.deleted', 'unpublish'],
    ['of which nothing is known', { post: {} }, 'post.published', 'publish'],
    ['that is a page', change(post, wasDraft, 'page'), 'page.published', 'publish'],
    ['that is a page taken back', change(draft, { status: 'published' }, 'page'), 'page.unpublished', 'unpublish'],
    ['that is a new tag', change({ id: 't1', name: 'News' }, {}, 'tag'), 'tag.added', 'publish'],
    ['that is a changed tag', change({ id: 't1', name: 'News' }, { name: 'New' }, 'tag'), 'tag.edited', 'publish'],
    ['that is a deleted tag', change({}, { id: 't1', name: 'News' }, 'tag'), 'tag.deleted', 'unpublish'],
    ['without a body of its own', {}, 'site.changed', 'publish'],
  ])('about a thing %s publishes', (_, body, topic, action) => {
    expect(read(body)).toMatchObject({ kind: 'publish', event: { topic, action } });
  });

  test.each([
    ['a new draft', change(draft, {}), 'post.added', 'it is draft, not published'],
    ['a saved draft', change(draft, edited), 'post.edited', 'it is draft, not published'],
    ['a tag put on a draft', change(draft, { tags: [] }), 'post.edited', 'it is draft, not published'],
    [
      'a schedule',
      change({ ...draft, status: 'scheduled' }, wasDraft),
      'post.scheduled',
      'it is scheduled, not published',
    ],
    ['a deleted draft', change({}, draft), 'post.deleted', 'it was not published'],
    ['a draft of a page', change(draft, {}, 'page'), 'page.added', 'it is draft, not published'],
    [
      'a member',
      change({ id: 'm1', email: 'a@b.c' }, {}, 'member'),
      'member.added',
      'members are not part of the site',
    ],
  ])('about %s is filtered', (_, body, topic, why) => {
    expect(read(body)).toEqual({ kind: 'filtered', topic, why });
  });

  test('about what was taken away tells its public address or none, and never that of its preview', () => {
    expect(read(change(draft, { status: 'published' }))).toMatchObject({ event: { url: '', title: 'Hello' } });
    const moved = { status: 'published', url: 'https://blog.example/hello/' };
    expect(read(change(draft, moved))).toMatchObject({ paths: ['/hello/'], event: { url: moved.url } });
    expect(read(change({}, post))).toMatchObject({ event: { id: post.id, title: 'Hello', at: RECEIVED_AT } });
  });

  test('is chosen by topic, by kind and by path', () => {
    const only = (choice: object, body: object = change(post, wasDraft)) => readerOf('ghost', { only: choice })(body);
    expect(only({ topic: 'page.*' })).toMatchObject({ why: 'only.topic' });
    expect(only({ contentType: 'page' })).toMatchObject({ why: 'only.contentType' });
    expect(only({ path: '/docs/**' })).toMatchObject({ why: 'only.path' });
    expect(only({ topic: 'post.*', contentType: 'post', path: '/hello/' }).kind).toBe('publish');
    expect(only({ path: '/docs/**' }, change(draft, { status: 'published' })).kind).toBe('publish');
    expect(only({ contentType: 'page', path: '/docs/**' }, {}).kind).toBe('publish');
  });

  test('is read whatever it holds', () => {
    expectToReadAnything(read, [
      'post',
      'page',
      'tag',
      'member',
      'current',
      'previous',
      'status',
      'url',
      'id',
      'title',
    ]);
  });
});
