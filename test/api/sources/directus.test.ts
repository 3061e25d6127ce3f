import { expectToReadAnything, RECEIVED_AT, readerOf } from './source-reader.ts';

const read = readerOf('directus');

const update = (payload: object = { title: 'Neu', body: 'x' }) => ({
  event: 'articles.items.update',
  payload,
  keys: ['a1', 'a2'],
  collection: 'articles',
});

describe('a Directus delivery', () => {
  test('of changed items is read with the first of them', () => {
    expect(read(update())).toEqual({
      kind: 'publish',
      contentType: 'articles',
      event: {
        source: 'directus',
        topic: 'articles.items.update',
        action: 'publish',
        id: 'a1',
        title: 'Neu',
        url: '',
        author: '',
        at: RECEIVED_AT,
      },
    });
  });

  test('that a flow sends together with the user tells who it was', () => {
    const user = '5c1ff7ee-9d4f-44f5-a9c7-1fd9f3b0c7d1';
    expect(read({ trigger: update(), user })).toMatchObject({
      contentType: 'articles',
      event: { id: 'a1', author: user },
    });
    expect(read({ ...update(), accountability: { user } })).toMatchObject({ event: { author: user } });
    for (const nobody of ['null', 'undefined', null]) {
      expect(read({ trigger: update(), user: nobody })).toMatchObject({ event: { id: 'a1', author: '' } });
    }
  });

  test('of a new item publishes, unless it is a draft', () => {
    const created = (payload: object) => ({ event: 'items.create', payload, key: 7, collection: 'articles' });
    expect(read(created({ title: 'Neu' }))).toMatchObject({ kind: 'publish', event: { id: '7', title: 'Neu' } });
    expect(read(created({ title: 'Neu', status: 'published' }))).toMatchObject({ kind: 'publish' });
    expect(read(created({ title: 'Neu', status: 'draft' }))).toEqual({
      kind: 'filtered',
      topic: 'items.create',
      why: 'the item is a draft',
    });
  });

  test.each(['draft', 'archived'])('that moves an item to %s takes it away', (status) => {
    expect(read(update({ status }))).toMatchObject({ kind: 'publish', event: { action: 'unpublish' } });
  });

  test('of deleted items takes them away', () => {
    const body = { event: 'articles.items.delete', payload: ['a1'], keys: ['a1'], collection: 'articles' };
    expect(read(body)).toMatchObject({ kind: 'publish', event: { action: 'unpublish', id: 'a1', title: 'a1' } });
  });

  test('of a file publishes', () => {
    const payload = { title: 'Photo', type: 'image/png', date_updated: '2026-11-21T07:00:00.000Z' };
    const body = { event: 'files.upload', payload, key: 'f1', collection: 'directus_files' };
    expect(read(body)).toMatchObject({ kind: 'publish', event: { title: 'Photo', at: '2026-11-21T07:00:00.000Z' } });
  });

  test('of a flow that a person started is read from its selection', () => {
    const body = {
      path: '/flows/trigger/1',
      query: {},
      body: { collection: 'articles', keys: ['a1'] },
      method: 'POST',
    };
    const event = { topic: 'manual', id: 'a1' };
    expect(read(body)).toMatchObject({ kind: 'publish', contentType: 'articles', event });
  });

  test.each([
    [{ event: 'auth.login', payload: {}, user: 'u1' }],
    [{ event: 'items.create', collection: 'directus_activity', key: 1, payload: {} }],
    [{ event: 'versions.update', collection: 'directus_versions', keys: [1], payload: {} }],
  ])('of Directus’s own affairs is listed only: %j', (body) => {
    expect(read(body)).toMatchObject({ kind: 'filtered', topic: body.event });
  });

  test.each([[null], [[]], ['x'], [{}], [{ event: 7, keys: 'x', payload: 'x' }]])(
    'that tells nothing we know publishes: %j',
    (body) => {
      expect(read(body)).toMatchObject({ kind: 'publish', event: { id: 'delivery-1' } });
    },
  );

  test('is read whatever it holds', () => {
    expectToReadAnything(read, [
      'event',
      'trigger',
      'collection',
      'keys',
      'key',
      'payload',
      'status',
      'body',
      'user',
      'title',
    ]);
  });

  test('is chosen by its collection', () => {
    expect(readerOf('directus', { only: { contentType: 'articles' } })(update()).kind).toBe('publish');
    expect(readerOf('directus', { only: { contentType: 'pages' } })(update())).toMatchObject({
      why: 'only.contentType',
    });
  });
});
