import { expectToReadAnything, RECEIVED_AT, readerOf } from './source-reader.ts';

const read = readerOf('wordpress');

/** As the plugin WP Webhooks writes it. */
const sent = (post: object = {}, beside: object = {}) => ({
  post_id: 12,
  post: {
    ID: 12,
    post_author: '1',
    post_date: '2026-11-20 15:00:00',
    post_date_gmt: '2026-11-20 14:00:00',
    post_title: 'Hello world!',
    post_status: 'publish',
    post_name: 'hello-world',
    post_modified: '2026-11-21 08:59:00',
    post_modified_gmt: '2026-11-21 07:59:00',
    post_type: 'post',
    ...post,
  },
  post_meta: {},
  post_thumbnail: false,
  post_permalink: 'https://blog.example.com/hello-world/',
  taxonomies: {},
  ...beside,
});

const by = (trigger: string) => ({ 'x-wp-webhook-name': trigger });
const was = (post_status: string) => ({ post_before: { ID: 12, post_status } });

describe('a WordPress delivery', () => {
  test.each(['post_create', 'post_update'])('by %s of a published post is read with its address', (trigger) => {
    expect(read(sent({}, was('draft')), by(trigger))).toEqual({
      kind: 'publish',
      contentType: 'post',
      paths: ['/hello-world/'],
      event: {
        source: 'wordpress',
        topic: trigger,
        action: 'publish',
        id: '12',
        title: 'Hello world!',
        url: 'https://blog.example.com/hello-world/',
        author: '1',
        at: '2026-11-21T07:59:00.000Z',
      },
    });
  });

  test('of the small plugin names its event and its author', () => {
    const body = sent({}, { event: 'transition_post_status', author: 'Ada', ...was('publish') });
    expect(read(body)).toMatchObject({ event: { topic: 'transition_post_status', author: 'Ada', action: 'publish' } });
  });

  test.each(['draft', 'pending', 'private', 'future', 'trash'])('of a post that became %s takes it away', (status) => {
    const body = sent({ post_status: status }, was('publish'));
    expect(read(body, by('post_update'))).toMatchObject({ kind: 'publish', event: { action: 'unpublish' } });
  });

  test.each([
    ['draft', 'draft'],
    ['draft', 'new'],
    ['pending', 'draft'],
    ['trash', 'draft'],
    ['auto-draft', 'publish'],
  ])('of a post that is %s and was %s is listed only', (status, old) => {
    expect(read(sent({ post_status: status }, was(old)), by('post_update'))).toEqual({
      kind: 'filtered',
      topic: 'post_update',
      why: `the post is not published: ${status}`,
    });
  });

  test('that doesn’t tell what the post was publishes, but for a new or a deleted draft', () => {
    const draft = sent({ post_status: 'draft' }, { post_before: false });
    expect(read(draft, by('post_update'))).toMatchObject({ kind: 'publish', event: { action: 'unpublish' } });
    expect(read(draft, by('post_create')).kind).toBe('filtered');
    expect(read(draft, by('post_delete')).kind).toBe('filtered');
  });

  test('of a post in the bin names the page that goes away', () => {
    const post_permalink = 'https://blog.example.com/hello-world__trashed/';
    const reading = read(sent({ post_status: 'trash' }, { post_permalink }), by('post_trash'));
    expect(reading).toMatchObject({
      kind: 'publish',
      paths: ['/hello-world/'],
      event: { action: 'unpublish', url: 'https://blog.example.com/hello-world/' },
    });
  });

  test.each(['publish', 'trash', 'inherit'])('of a deleted post that was %s takes it away', (status) => {
    const reading = read(sent({ post_status: status }), by('post_delete'));
    expect(reading).toMatchObject({ kind: 'publish', event: { action: 'unpublish', at: RECEIVED_AT } });
  });

  test('of a post without a public address tells no path, so that a chosen path keeps no unpublish back', () => {
    const hidden = sent(
      { post_status: 'draft' },
      { post_permalink: 'https://blog.example.com/?p=12', ...was('publish') },
    );
    expect(readerOf('wordpress', { only: { path: 'docs/**' } })(hidden, by('post_update')).kind).toBe('publish');
  });

  test.each(['revision', 'customize_changeset', 'oembed_cache'])('of a %s is listed only', (type) => {
    expect(read(sent({ post_type: type, post_status: 'inherit' }), by('post_create'))).toMatchObject({
      kind: 'filtered',
      why: 'a record of WordPress itself',
    });
  });

  test('that looks like the REST API’s post is read, too', () => {
    const body = {
      id: 12,
      type: 'page',
      status: 'publish',
      title: { rendered: 'Hi' },
      link: 'https://a.b/hi/',
      author: 3,
    };
    const event = { id: '12', title: 'Hi', url: 'https://a.b/hi/', author: '3' };
    expect(read(body)).toMatchObject({ kind: 'publish', contentType: 'page', event });
  });

  test.each([[null], [[]], ['x'], [{}], [{ post: 7, post_id: {} }], [{ post_permalink: 'javascript:alert(1)' }]])(
    'that tells nothing we know publishes: %j',
    (body) => {
      expect(read(body)).toMatchObject({ kind: 'publish', event: { id: 'delivery-1', url: '' } });
    },
  );

  test('is read whatever it holds', () => {
    const keys = [
      'event',
      'post',
      'post_status',
      'post_before',
      'post_type',
      'post_permalink',
      'post_title',
      'title',
      'ID',
    ];
    expectToReadAnything(read, keys, ['post_create', 'post_update', 'post_trash', 'post_delete'].map(by));
  });

  test('is chosen by post type and by trigger', () => {
    expect(readerOf('wordpress', { only: { contentType: ['post', 'page'] } })(sent()).kind).toBe('publish');
    expect(readerOf('wordpress', { only: { contentType: 'page' } })(sent())).toMatchObject({ why: 'only.contentType' });
    expect(readerOf('wordpress', { only: { topic: 'post_trash' } })(sent(), by('post_update'))).toMatchObject({
      why: 'only.topic',
    });
  });
});
