import { expectToReadAnything, readerOf } from './source-reader.ts';

const read = readerOf('strapi');

/** As version 5 writes it; version 4 has neither `uid` nor `documentId`. */
const delivery = (event: string, change: object = {}) => ({
  event,
  createdAt: '2026-11-21T07:59:59.000Z',
  model: 'article',
  uid: 'api::article.article',
  entry: {
    id: 12,
    documentId: 'a1b2c3d4e5f6g7h8i9j0klm',
    title: 'Hello',
    slug: 'hello',
    createdAt: '2026-11-20T00:00:00.000Z',
    updatedAt: '2026-11-21T07:59:58.000Z',
    publishedAt: '2026-11-21T07:59:58.000Z',
    updatedBy: { id: 1, firstname: 'Ada', lastname: 'Lovelace', username: null },
    ...change,
  },
});

const media = (event: string) => ({
  event,
  createdAt: '2026-11-21T07:59:59.000Z',
  media: { id: 1, name: 'image.png', url: '/uploads/image.png', mime: 'image/png' },
});

describe('a Strapi delivery', () => {
  test('of a published entry is read with its model', () => {
    expect(read(delivery('entry.publish'), { 'x-strapi-event': 'entry.publish' })).toEqual({
      kind: 'publish',
      contentType: 'article',
      event: {
        source: 'strapi',
        topic: 'entry.publish',
        action: 'publish',
        id: 'a1b2c3d4e5f6g7h8i9j0klm',
        title: 'Hello',
        url: '',
        author: 'Ada',
        at: '2026-11-21T07:59:59.000Z',
      },
    });
  });

  test('of version 4 has the entry’s number as its id', () => {
    const { uid: _uid, ...old } = delivery('entry.publish', { documentId: undefined });
    expect(read(old)).toMatchObject({ contentType: 'article', event: { id: '12' } });
  });

  test.each(['entry.unpublish', 'entry.delete'])('of %s takes the entry away, whatever state it is in', (event) => {
    for (const publishedAt of [null, '2026-11-21T07:59:58.000Z']) {
      expect(read(delivery(event, { publishedAt }))).toMatchObject({ kind: 'publish', event: { action: 'unpublish' } });
    }
  });

  test.each(['entry.create', 'entry.update'])('of %s publishes unless the entry is a draft', (event) => {
    expect(read(delivery(event)).kind).toBe('publish');
    expect(read(delivery(event, { publishedAt: undefined })).kind).toBe('publish');
    expect(read(delivery(event, { publishedAt: null }))).toEqual({
      kind: 'filtered',
      topic: event,
      why: 'the entry is a draft',
    });
  });

  test.each([
    ['media.create', 'publish'],
    ['media.update', 'publish'],
    ['media.delete', 'unpublish'],
  ])('of %s is a %s', (event, action) => {
    expect(read(media(event))).toMatchObject({ kind: 'publish', event: { action, title: 'image.png', url: '' } });
  });

  test('of a release publishes, unless the release failed', () => {
    const release = { id: 2, name: 'Fall highlights', releasedAt: '2026-11-21T07:00:00.000Z' };
    const body = { event: 'releases.publish', createdAt: '2026-11-21T07:00:00.000Z', isPublished: true, release };
    expect(read(body)).toMatchObject({ kind: 'publish', event: { id: '2', title: 'Fall highlights' } });
    expect(read({ ...body, isPublished: false })).toMatchObject({ kind: 'filtered', why: 'the release failed' });
  });

  test.each(['trigger-test', 'entry.draft-discard', 'review-workflows.updateEntryStage'])(
    'of %s is listed only',
    (event) => {
      expect(read({ event, createdAt: '2026-11-21T07:00:00.000Z' })).toMatchObject({ kind: 'filtered', topic: event });
    },
  );

  test('names its event in the header where a person left it out of the body', () => {
    expect(read({}, { 'x-strapi-event': 'trigger-test' })).toMatchObject({ kind: 'filtered' });
    expect(read({}, { 'x-strapi-event': 'entry.delete' })).toMatchObject({ event: { action: 'unpublish' } });
  });

  test.each([[null], [[]], ['x'], [{}], [{ event: 7, entry: 'x' }], [{ event: 'entry.update', entry: null }]])(
    'that tells nothing we know publishes: %j',
    (body) => {
      expect(read(body)).toMatchObject({ kind: 'publish', event: { id: 'delivery-1' } });
    },
  );

  test('is read whatever it holds', () => {
    const keys = [
      'event',
      'entry',
      'media',
      'release',
      'model',
      'uid',
      'publishedAt',
      'title',
      'updatedBy',
      'createdAt',
    ];
    const events = ['entry.update', 'releases.publish', 'media.delete'];
    expectToReadAnything(
      read,
      keys,
      events.map((event) => ({ 'x-strapi-event': event })),
    );
  });

  test('is held to the site’s filters and choice', () => {
    const filters = { 'entry.locale': 'en' };
    expect(readerOf('strapi', { filters })(delivery('entry.publish', { locale: 'en' })).kind).toBe('publish');
    expect(readerOf('strapi', { filters })(delivery('entry.publish', { locale: 'de' }))).toEqual({
      kind: 'filtered',
      topic: 'entry.publish',
      why: 'filters.entry.locale',
    });
    const only = { contentType: ['page', 'art*'], topic: 'entry.*' };
    expect(readerOf('strapi', { only })(delivery('entry.publish')).kind).toBe('publish');
    expect(readerOf('strapi', { only })(media('media.update'))).toMatchObject({ why: 'only.topic' });
  });
});
