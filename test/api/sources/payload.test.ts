import { expectToReadAnything, RECEIVED_AT, readerOf } from './source-reader.ts';

const read = readerOf('payload');

/** As the hook of docs/sources/payload.md sends it. */
const sent = (operation: string, doc: object = {}, beside: object = {}) => ({
  operation,
  collection: 'posts',
  previousStatus: 'published',
  user: 'ada@example.com',
  url: 'https://docs.example.com/posts/hello',
  doc: {
    id: '65f0c1',
    title: 'Hello',
    slug: 'hello',
    updatedAt: '2026-11-21T07:59:58.000Z',
    _status: 'published',
    ...doc,
  },
  ...beside,
});

describe('a Payload delivery', () => {
  test.each(['create', 'update'])('of an %s publishes the document', (operation) => {
    expect(read(sent(operation))).toEqual({
      kind: 'publish',
      contentType: 'posts',
      paths: ['/posts/hello'],
      event: {
        source: 'payload',
        topic: operation,
        action: 'publish',
        id: '65f0c1',
        title: 'Hello',
        url: 'https://docs.example.com/posts/hello',
        author: 'ada@example.com',
        at: '2026-11-21T07:59:58.000Z',
      },
    });
  });

  test('of a delete takes the document away, a draft as well', () => {
    for (const _status of ['published', 'draft', undefined]) {
      expect(read(sent('delete', { _status }))).toMatchObject({
        kind: 'publish',
        event: { action: 'unpublish', at: RECEIVED_AT },
      });
    }
  });

  test('of a document that was moved to the trash takes it away', () => {
    const body = sent('update', { deletedAt: '2026-11-21T07:59:58.000Z' });
    expect(read(body)).toMatchObject({ kind: 'publish', event: { action: 'unpublish' } });
  });

  test.each(['draft', undefined])('of a draft that was %s before is listed only', (previousStatus) => {
    expect(read(sent('update', { _status: 'draft' }, { previousStatus }))).toEqual({
      kind: 'filtered',
      topic: 'update',
      why: 'the document is a draft',
    });
  });

  test('of a draft that was published before publishes: it may have been taken away', () => {
    expect(read(sent('update', { _status: 'draft' }))).toMatchObject({ kind: 'publish', event: { action: 'other' } });
  });

  test('that is what a hook was given is read alike', () => {
    const { collection: slug, previousStatus: _status, ...rest } = sent('update', { _status: 'draft' });
    const given = { ...rest, collection: { slug, auth: false } };
    expect(read({ ...given, previousDoc: { _status } })).toMatchObject({ kind: 'publish', contentType: 'posts' });
    expect(read({ ...given, previousDoc: { _status: 'draft' } })).toMatchObject({ kind: 'filtered' });
  });

  test('of a collection without drafts, or of a global, publishes', () => {
    expect(read(sent('update', { _status: undefined }, { previousStatus: undefined })).kind).toBe('publish');
    const global = { operation: 'update', global: 'header', doc: { globalType: 'header' } };
    expect(read(global)).toMatchObject({ kind: 'publish', contentType: 'header', event: { id: 'delivery-1' } });
  });

  test.each([[null], [[]], ['x'], [{}], [{ operation: 7, doc: 'x' }]])(
    'that tells nothing we know publishes: %j',
    (body) => {
      expect(read(body)).toMatchObject({ kind: 'publish' });
    },
  );

  test('is read whatever it holds', () => {
    expectToReadAnything(read, [
      'operation',
      'doc',
      '_status',
      'previousStatus',
      'collection',
      'url',
      'user',
      'title',
      'id',
    ]);
  });

  test('is chosen by its path', () => {
    expect(readerOf('payload', { only: { path: 'posts/**' } })(sent('update')).kind).toBe('publish');
    expect(readerOf('payload', { only: { path: 'pages/**' } })(sent('update'))).toMatchObject({ why: 'only.path' });
  });
});
